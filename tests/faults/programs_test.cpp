// What is said of a program that is not installed.
#include "support/child_process.hpp"
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

namespace redlock::testing {
namespace {

// Nothing is installed while it exists.
class empty_path {
public:
    empty_path() : before_{std::getenv("PATH")} { ::setenv("PATH", "/nowhere", 1); }
    empty_path(empty_path const&) = delete;
    empty_path& operator=(empty_path const&) = delete;
    ~empty_path() { ::setenv("PATH", before_.c_str(), 1); }

private:
    std::string before_;
};

template <class F>
std::string failure_of(F f)
{
    try {
        f();
    } catch (std::runtime_error const& e) {
        return e.what();
    }
    return "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(programs)

BOOST_AUTO_TEST_CASE(only_the_server_is_said_to_come_with_the_package_of_the_server)
{
    empty_path const nothing_is_installed;
    auto const of_unshare = failure_of([] { find_program("unshare"); });
    BOOST_TEST(of_unshare == "unshare is not installed: no folder in PATH holds it");
    auto const of_the_server = failure_of([] { redis_server const server; });
    BOOST_TEST(of_the_server == "redis-server is not installed: no folder in PATH holds it (on Debian: apt-get install redis-server)");
    redis_server_options of_another;
    of_another.binary = "valkey-server";
    auto const of_valkey = failure_of([&] { redis_server const server{of_another}; });
    BOOST_TEST(of_valkey == "valkey-server is not installed: no folder in PATH holds it");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
