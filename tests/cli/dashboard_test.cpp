// redlock dashboard on real servers: what it shows, whom it answers, and that it changes nothing there.
#include "permit_holders.hpp"
#include "program.hpp"
#include "web_client.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

struct shown : three_servers {
    std::string hold(std::string const& name, std::string const& ttl = "20s")
    {
        program p{{"acquire", "--bootstrap", "--ttl", ttl, "--label", "import", "--", name}, environment()};
        BOOST_TEST(p.wait() == 0, p.errors());
        return lines_of(p.output()).front();
    }
    void release(std::string const& ticket)
    {
        program p{{"release", "--ticket", ticket}, environment()};
        BOOST_TEST(p.wait() == 0, p.errors());
    }
};

// The lock of this name; null: it is not shown.
nlohmann::json lock_in(nlohmann::json const& status, std::string const& name)
{
    if (status.at("locks").is_null()) return {};
    for (auto const& lock : status.at("locks").at("locks"))
        if (lock.at("name") == name) return lock;
    return {};
}

bool all_nodes_are(nlohmann::json const& status, std::string const& state)
{
    auto const& nodes = status.at("nodes");
    return std::all_of(nodes.begin(), nodes.end(), [&](auto const& n) { return n.at("state") == state; });
}

std::set<std::string> commands_called(redis_server& at)
{
    std::set<std::string> all;
    std::istringstream text{at.command({"INFO", "commandstats"})};
    for (std::string line; std::getline(text, line);)
        if (line.starts_with("cmdstat_")) all.insert(line.substr(8, line.find(':') - 8));
    return all;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(dashboard, shown)

BOOST_AUTO_TEST_CASE(it_shows_nodes_and_locks)
{
    dashboard_program shows{environment()};
    auto const ticket = hold("job");
    BOOST_TEST_REQUIRE(eventually([&] { return !lock_in(shows.status(), "job").is_null() && all_nodes_are(shows.status(), "admitted"); }),
                       shows.status().dump());
    auto const status = shows.status();
    BOOST_TEST(status.at("verdict").at("level") == "good");
    BOOST_TEST(status.at("majority") == 2);
    for (auto const& node : status.at("nodes")) {
        BOOST_TEST(node.at("round_trip_us") > 0);
        BOOST_TEST(std::abs(node.at("clock_ahead_us").get<int>()) < 1'000'000);
    }
    auto const lock = lock_in(status, "job");
    BOOST_TEST(lock.at("state") == "held");
    BOOST_TEST(lock.at("holder").at("label") == "import");
    BOOST_TEST(lock.at("held_on") >= 2);

    release(ticket);
    BOOST_TEST(eventually([&] { return lock_in(shows.status(), "job").is_null(); }));
    auto const lanes = shows.status().at("timeline").at("locks");
    BOOST_TEST_REQUIRE(lanes.size() == 1u);
    BOOST_TEST(lanes.at(0).at("name") == "job");
    BOOST_TEST(lanes.at(0).at("held_now") == false);
    // A look may miss a node, or see the command that releases: that one adopts the ticket first. Such spans are apart.
    auto const& spans = lanes.at(0).at("spans");
    BOOST_TEST(std::any_of(spans.begin(), spans.end(),
                           [](auto const& s) { return s.at("state") == "held" && s.value("label", "") == "import"; }),
               spans.dump());

    shows.process().send(SIGINT);
    BOOST_TEST(shows.process().wait() == 0);
    BOOST_TEST(shows.process().errors() == "");
}

// A semaphore stands in the table once, with its slots, and in the time line each slot is a lock of its own.
BOOST_FIXTURE_TEST_CASE(it_shows_who_has_permits, two_holders)
{
    dashboard_program shows{environment()};
    auto const has_both = [&] {
        auto const lock = lock_in(shows.status(), "exports");
        return !lock.is_null() && lock.at("semaphore").at("held") == 2;
    };
    BOOST_TEST_REQUIRE(eventually(has_both), shows.status().dump());
    auto const status = shows.status();
    auto const semaphore = lock_in(status, "exports");
    BOOST_TEST(semaphore.at("mode") == "permits");
    BOOST_TEST(semaphore.at("semaphore").at("permits") == 3);
    std::set<std::string> labels, lanes;
    for (auto const& slot : semaphore.at("semaphore").at("slots")) {
        BOOST_TEST(slot.at("state") == "held");
        BOOST_TEST(slot.at("on").size() == 3u);
        auto const& label = slot.at("holder").at("label");
        labels.insert(label.is_null() ? "" : label.get<std::string>());
        BOOST_TEST(lock_in(status, slot.at("name").get<std::string>()).is_null(), "it stands below its semaphore");
        lanes.insert(slot.at("name").get<std::string>());
    }
    BOOST_TEST((labels == std::set<std::string>{"", "first"}));
    std::set<std::string> drawn;
    for (auto const& lane : status.at("timeline").at("locks")) drawn.insert(lane.at("name").get<std::string>());
    BOOST_TEST(drawn == lanes, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(and_what_becomes_of_them)
{
    hold("job");
    dashboard_program shows{environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("verdict").at("level") == "good"; }), shows.status().dump());
    all[0].stop();
    BOOST_TEST(eventually([&] { return shows.status().at("nodes").at(0).at("state") == "down"; }));
    BOOST_TEST(shows.status().at("verdict").at("level") == "warning");
    BOOST_TEST(lock_in(shows.status(), "job").at("state") == "held", "two of three tell of it");
    all[1].kill();
    BOOST_TEST(eventually([&] { return shows.status().at("verdict").at("level") == "danger"; }));
    BOOST_TEST(eventually([&] { return contains(shows.status().at("nodes").at(1).at("text"), "refused"); }));
    all[0].resume();
    all[1].restart();
    BOOST_TEST(eventually([&] { return shows.status().at("nodes").at(1).at("state") == "uninitialized"; }), "it lost its data");
    BOOST_TEST(eventually([&] { return shows.status().at("verdict").at("level") == "warning"; }));
}

// With such a list no client gets a lock, though all nodes answer.
BOOST_AUTO_TEST_CASE(a_list_that_is_not_that_of_the_set)
{
    hold("job");
    redis_server fourth;
    program_options const other{{{"REDLOCK_NODES", urls() + ',' + fourth.url()}}};
    dashboard_program shows{other};
    auto const verdict = [&] { return shows.status().at("verdict"); };
    BOOST_TEST(eventually([&] { return contains(verdict().at("text"), "the list of nodes is not that of the set"); }), verdict().dump());
    BOOST_TEST(verdict().at("level") == "danger");
    program p{{"run", "--no-wait", "other", "--", "true"}, other};
    BOOST_TEST(p.wait() == exits::config);
    BOOST_TEST(contains(p.errors(), "the list of nodes is not that of the set"), p.errors());
}

BOOST_AUTO_TEST_CASE(it_only_reads)
{
    dashboard_program shows{environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return !shows.status().at("locks").is_null() && all_nodes_are(shows.status(), "uninitialized"); }));
    all[0].command({"SET", "other", "x"});
    BOOST_TEST_REQUIRE(eventually([&] { return shows.status().at("locks").at("foreign_keys") == 1; }));
    std::set<std::string> const
        reading{"hello", "client|setname", "client|setinfo", "client", "info", "get",    "exists",
                "time",  "scan",           "getrange",       "type",   "pttl", "zscore", "zcount",
                "ping",  "config|get",     "command",        "select", "set",  "del"};  // of a key that nobody has: whether the server takes writes
    for (std::string const& command : commands_called(all[0])) BOOST_TEST(reading.contains(command), command);
    BOOST_TEST(!commands_called(all[1]).contains("set"));
    BOOST_TEST(all[0].command({"DBSIZE"}) == "1");
    BOOST_TEST(all[1].command({"DBSIZE"}) == "0");
}

BOOST_AUTO_TEST_CASE(names_are_data_and_not_html)
{
    std::string const hostile = "</script><img src=x onerror=alert(1)>\"'&\n\xff";
    hold(hostile);
    dashboard_program shows{environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return !shows.status().at("timeline").at("locks").empty(); }));
    auto const name = shows.status().at("timeline").at("locks").at(0).at("name").get<std::string>();
    BOOST_TEST(name.starts_with("</script><img src=x onerror=alert(1)>\"'&\n"));
    BOOST_TEST(!contains(shows.get("/").body, "onerror"), "the page is the same for all");
    BOOST_TEST(contains(shows.get("/api/status.json").head, "Content-Type: application/json\r\n"));
}

BOOST_AUTO_TEST_CASE(what_is_asked_otherwise_is_refused)
{
    dashboard_program shows{environment()};
    auto const page = shows.get("/");
    BOOST_TEST(page.status == 200);
    BOOST_TEST(contains(page.head, "Content-Type: text/html; charset=utf-8\r\n"));
    BOOST_TEST(contains(page.head, "Content-Security-Policy: default-src 'none'; script-src 'sha256-"));
    BOOST_TEST(page.body.starts_with("<!DOCTYPE html>"));
    auto const head = shows.ask("HEAD / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
    BOOST_TEST(head.status == 200);
    BOOST_TEST(head.body == "");
    BOOST_TEST(contains(head.head, "Content-Length: " + std::to_string(page.body.size())));

    BOOST_TEST(shows.get("/other").status == 404);
    auto const post = shows.ask("POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    BOOST_TEST(post.status == 405);
    BOOST_TEST(contains(post.head, "Allow: GET, HEAD\r\n"));
    BOOST_TEST(shows.ask("GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n").status == 421);
    BOOST_TEST(shows.ask("GET / HTTP/1.1\r\nConnection: close\r\n\r\n").status == 400);
    BOOST_TEST(shows.ask("GET / HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\nConnection: close\r\n\r\n").status == 400);
    BOOST_TEST(shows.ask("hello\r\n\r\n").status == 400);
    BOOST_TEST(shows.ask("GET / HTTP/1.1\r\nHost: localhost\r\nX: " + std::string(10'000, 'x') + "\r\n\r\n").status == 431);
    BOOST_TEST(shows.ask("GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello").status == 413);
    BOOST_TEST(shows.ask("GET / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n").status == 413);

    web_connection kept{shows.port()};
    for (int i = 0; i < 3; ++i) {
        kept.send("GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n");
        BOOST_TEST(kept.receive("there is /").starts_with("HTTP/1.1 404 "));
    }
}

BOOST_AUTO_TEST_CASE(connections_and_their_time_are_bounded)
{
    dashboard_program shows{environment()};
    auto const began = std::chrono::steady_clock::now();
    web_connection slow{shows.port()};
    slow.send("GET / HTTP/1.1\r\nHos");
    BOOST_TEST(slow.receive() == "", "and is closed");
    BOOST_TEST((std::chrono::steady_clock::now() - began < 9s));

    std::deque<web_connection> many;
    for (int i = 0; i < 64; ++i) many.emplace_back(shows.port());
    BOOST_TEST(eventually([&] { return shows.get("/").status == 503; }));
    many.clear();
    BOOST_TEST(eventually([&] { return shows.get("/").status == 200; }));
}

BOOST_AUTO_TEST_CASE(other_machines_need_a_token)
{
    expect_failure({"dashboard", "--listen", "0.0.0.0:0"}, exits::usage,
                   "so a token is needed: give --token-file FILE, or REDLOCK_DASHBOARD_TOKEN", environment());
    auto const file = (folder.path() / "token").string();
    std::ofstream{file} << "short\n";
    expect_failure({"dashboard", "--listen", "0.0.0.0:0", "--token-file", file}, exits::usage, "fewer than 16 characters", environment());
    expect_failure({"dashboard", "--token-file", file + ".missing"}, exits::usage, "--token-file: ", environment());
    std::ofstream{file} << "0123456789abcdef\n";
    dashboard_program shows{environment(), {"--listen", "0.0.0.0:0", "--token-file", file}};
    BOOST_TEST(contains(shows.process().errors(), "HTTP is not encrypted"));
    auto const refused = shows.get("/api/status.json");
    BOOST_TEST(refused.status == 401);
    BOOST_TEST(contains(refused.head, "WWW-Authenticate: Basic realm="));
    BOOST_TEST(shows.get("/", "Authorization: Bearer 0123456789abcdeF\r\n").status == 401);
    BOOST_TEST(shows.get("/", "Authorization: Bearer 0123456789abcdef\r\n").status == 200);
    BOOST_TEST(shows.get("/api/status.json", "Authorization: Basic OjAxMjM0NTY3ODlhYmNkZWY=\r\n").status == 200);

    auto with_variable = environment();
    with_variable.environment.emplace_back("REDLOCK_DASHBOARD_TOKEN", "fedcba9876543210");
    dashboard_program by_variable{with_variable};
    BOOST_TEST(by_variable.get("/").status == 401, "on loopback, too, where a token is given");
    BOOST_TEST(by_variable.get("/", "Authorization: Bearer fedcba9876543210\r\n").status == 200);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_done_is_told)
{
    dashboard_program shows{environment()};
    expect_failure({"dashboard", "--listen", "127.0.0.1:" + std::to_string(shows.port())}, exits::internal,
                   "cannot listen on http://127.0.0.1:", environment());
    expect_failure({"dashboard", "--listen", "8480"}, exits::usage, "is no address with a port; write for instance 127.0.0.1:8480",
                   environment());
    expect_failure({"dashboard", "--interval", "1ms"}, exits::usage, "--interval must be from 100.0 ms to 1 min", environment());
    expect_failure({"dashboard", "--history", "1s"}, exits::usage, "--history must be from", environment());
    expect_failure({"dashboard", "--limit", "0"}, exits::usage, "number of locks", environment());
    expect_failure({"dashboard", "job"}, exits::usage, "one argument too many", environment());
    expect_failure({"dashboard", "--", "x"}, exits::usage, "takes nothing behind --", environment());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
