// The examples, run as a user would, against real servers.
#include "support/redis_server.hpp"

#include <boost/test/unit_test.hpp>

#include <array>
#include <cstdio>
#include <deque>
#include <stdexcept>
#include <string>

#include <sys/wait.h>

namespace {

using redlock::testing::redis_server;

struct outcome {
    int exit_code;
    std::string output;
};

outcome run_example(std::string const& name, std::string const& arguments)
{
    std::string const command = std::string{REDLOCK_EXAMPLES} + "/" + name + " " + arguments + " 2>&1";
    FILE* const pipe = ::popen(command.c_str(), "r");
    if (!pipe) throw std::runtime_error{"cannot run " + command};
    outcome result{};
    std::array<char, 4096> buffer;
    for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) result.output.append(buffer.data(), n);
    int const status = ::pclose(pipe);
    result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(examples)

BOOST_AUTO_TEST_CASE(first_lock)
{
    std::deque<redis_server> servers(3);
    std::string urls;
    for (auto const& s : servers) urls += s.url() + " ";
    outcome const result = run_example("first_lock", urls);
    BOOST_TEST(result.exit_code == 0);
    BOOST_TEST(result.output == "report written\n");
    for (auto& s : servers) BOOST_TEST(s.command({"EXISTS", "reports:nightly"}) == "0");
}

BOOST_AUTO_TEST_CASE(first_lock_without_nodes)
{
    outcome const result = run_example("first_lock", "");
    BOOST_TEST(result.exit_code == 1);
    BOOST_TEST(result.output.find("nodes") != std::string::npos, result.output);
}

BOOST_AUTO_TEST_SUITE_END()
