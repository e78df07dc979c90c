// The example that serves metrics, asked as Prometheus would, and as others would.
#include "support/admitted.hpp"
#include "support/child_process.hpp"
#include "support/exposition_reader.hpp"
#include "support/looking_on.hpp"
#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <deque>
#include <optional>
#include <string>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

struct running_example {
    running_example()
    {
        std::vector<std::string> arguments{"0"};
        for (auto const& s : servers) arguments.push_back(s.url());
        child.emplace(std::string{REDLOCK_EXAMPLES} + "/observing", arguments, log);
        std::string const before = "http://127.0.0.1:";
        BOOST_REQUIRE(eventually([&] { return contents(log).find("/metrics\n") != std::string::npos; }));
        auto const text = contents(log);
        port = static_cast<std::uint16_t>(std::stoi(text.substr(text.find(before) + before.size())));
    }

    std::string get(std::string const& path = "/metrics") const { return ask(port, "GET " + path + " HTTP/1.1\r\nHost: x\r\n\r\n"); }
    exposition metrics() const
    {
        auto const answer = get();
        return exposition{answer.substr(answer.find("\r\n\r\n") + 4)};
    }

    temporary_folder folder;
    std::filesystem::path log = folder.path() / "log";
    std::deque<redis_server> servers{admitted_servers(3)};
    std::optional<child_process> child;
    std::uint16_t port{0};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(observing)

BOOST_FIXTURE_TEST_CASE(serves_metrics_that_move, running_example)
{
    BOOST_REQUIRE(eventually([&] { return metrics().value("redlock_releases_total", {{"outcome", "released"}}) >= 2; }));
    auto const answer = get();
    BOOST_TEST(answer.starts_with("HTTP/1.0 200 OK\r\n"), answer);
    BOOST_TEST(answer.find("Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n") != std::string::npos, answer);
    auto const m = metrics();
    BOOST_TEST(m.value("redlock_acquire_seconds_count") >= 2);
    BOOST_TEST(m.value("redlock_hold_seconds_sum") >= 0.2);
    for (auto const& s : servers) BOOST_TEST(m.value("redlock_node_up", {{"node", "127.0.0.1:" + std::to_string(s.port())}}) == 1);

    servers[2].kill();
    std::string const node = "127.0.0.1:" + std::to_string(servers[2].port());
    BOOST_TEST(eventually([&] { return metrics().value("redlock_node_up", {{"node", node}}) == 0; }));
    BOOST_TEST(contents(log).find("\"event\":\"node_down\",\"node\":\"" + node) != std::string::npos);
}

BOOST_FIXTURE_TEST_CASE(has_nothing_else_and_survives_nonsense, running_example)
{
    BOOST_TEST(get("/").starts_with("HTTP/1.0 404 "));
    BOOST_TEST(ask(port, "DELETE /metrics HTTP/1.1\r\nHost: x\r\n\r\n").starts_with("HTTP/1.0 404 "));
    ask(port, "this is no HTTP\r\n\r\n");
    BOOST_TEST(get().starts_with("HTTP/1.0 200 "));
    child->end(SIGTERM, 5s);
    BOOST_TEST((child->exit_code() == 0));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
