// Tickets in a shell: redlock acquire, extend, release --ticket and run --ticket.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

struct tickets : three_servers {
    // The one line of a program that ended well.
    std::string ticket_of(arguments const& args, std::string const& input = "")
    {
        program p{args, environment(input)};
        BOOST_TEST(p.wait() == 0, p.errors());
        auto const lines = lines_of(p.output());
        BOOST_TEST_REQUIRE(lines.size() == 1u, p.output());
        BOOST_TEST(lines.front().starts_with("redlock-ticket-1."));
        return lines.front();
    }
    std::string acquire(arguments const& options = {})
    {
        arguments args{"acquire", "job", "--bootstrap"};
        args.insert(args.end(), options.begin(), options.end());
        return ticket_of(args);
    }

    // On how many servers the key is there for longer than least, and for limit at most.
    std::ptrdiff_t count_with_ttl(std::chrono::milliseconds least, std::chrono::milliseconds limit)
    {
        return std::ranges::count_if(all, [&](redis_server const& server) {
            std::chrono::milliseconds const left{std::stol(server.command({"PTTL", "job"}))};
            return left > least && left <= limit;
        });
    }
};

constexpr char const* used_up = "job is not held by this ticket any more";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ticket, tickets)

BOOST_AUTO_TEST_CASE(a_lock_is_held_after_the_command_that_acquired_it)
{
    auto const ticket = acquire({"--ttl", "20s", "--label", "import"});
    BOOST_TEST(count_with("job") >= 2u, "a node that is admitted later has no part in it");
    expect_failure({"acquire", "job", "--no-wait"}, exits::contended, "another holder has the lock", environment());
    expect_failure({"acquire", "job", "--no-wait", "--conflict-exit-code", "7"}, 7, "another holder has the lock", environment());
    expect_failure({"acquire", "job", "--wait", "100ms"}, exits::contended, "job was not acquired", environment());

    program view{{"inspect", "job", "--json"}, environment()};
    BOOST_TEST(view.wait() == 0);
    BOOST_TEST(view.json().at("locks").at(0).at("holder").at("label") == "import");

    program p{{"release", "--ticket", ticket}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(p.output() + p.errors() == "");
    BOOST_TEST(count_with("job") == 0u);
    expect_failure({"release", "--ticket", ticket}, exits::lost, used_up, environment());
}

BOOST_AUTO_TEST_CASE(each_extension_makes_the_next_ticket)
{
    auto const first = acquire({"--ttl", "20s"});
    auto const second = ticket_of({"extend", "--ticket", first, "--ttl", "29s"});
    BOOST_TEST(first != second);
    BOOST_TEST(count_with_ttl(20s, 29s) >= 2, "a node that is admitted later has no part in it");
    expect_failure({"extend", "--ticket", first}, exits::lost, used_up, environment());
    auto const third = ticket_of({"extend", "--ticket", "-"}, second + '\n');
    BOOST_TEST(count_with_ttl(20s, 29s) >= 2, "the ttl is that of the ticket");
    program p{{"release", "--ticket", "-"}, environment(third + '\n')};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(a_command_runs_under_a_lock_that_was_acquired_before)
{
    auto const ticket = acquire({"--ttl", "10s"});
    program p{{"run", "-v", "--ticket", ticket, "--", "sh", "-c", "echo $REDLOCK_NAME $REDLOCK_TOKEN"}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(p.output().starts_with("job "));
    BOOST_TEST(p.output().size() > 10u, "and a token: " << p.output());
    BOOST_TEST(contains(p.errors(), "redlock: goes on with job"), p.errors());
    BOOST_TEST(contains(p.errors(), "redlock: released job"), p.errors());
    BOOST_TEST(count_with("job") == 0u);

    expect_failure({"run", "--ticket", ticket, "--", "echo", "no"}, exits::lost, used_up, environment());
}

BOOST_AUTO_TEST_CASE(and_keeps_it_for_longer_than_its_ttl)
{
    auto const ticket = acquire({"--ttl", "1s"});
    program p{{"run", "--ticket", ticket, "--", "sh", "-c", "echo begun; sleep 3; echo done"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(p.output(), "begun"); }), p.errors());
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(contains(p.output(), "done"));
}

BOOST_AUTO_TEST_CASE(what_is_no_ticket_is_wrong_usage)
{
    auto const ticket = acquire();
    for (char const* const command : {"extend", "release"}) {
        expect_failure({command, "--ticket", "x"}, exits::usage, "this is no ticket of a lease", environment());
        expect_failure({command, "--ticket", ticket.substr(0, 100)}, exits::usage, "this is no ticket of a lease", environment());
        expect_failure({command, "--ticket", "redlock-ticket-2.abc"}, exits::usage, "newer version", environment());
        expect_failure({command, "--ticket", "-"}, exits::usage, "there is no line in the input", environment());
    }
    expect_failure({"run", "--ticket", "x", "--", "true"}, exits::usage, "this is no ticket of a lease", environment());
    expect_failure({"run", "job", "--ticket", ticket, "--", "true"}, exits::usage, "--ticket goes without NAME", environment());
    expect_failure({"run", "--shared", "--ticket", ticket, "--", "true"}, exits::usage, "--ticket goes without --shared", environment());
    expect_failure({"release", "job", "--ticket", ticket}, exits::usage, "--ticket goes without NAME", environment());
    expect_failure({"release", "--force", "--ticket", ticket}, exits::usage, "--ticket goes without NAME", environment());
    expect_failure({"release"}, exits::usage, "NAME is required", environment());
    expect_failure({"acquire"}, exits::usage, "NAME is required", environment());
    expect_failure({"acquire", "a", "b"}, exits::usage, "one argument too many", environment());
    expect_failure({"extend"}, exits::usage, "--ticket is required", environment());
    expect_failure({"extend", "--ticket", ticket, "--ttl", "5m"}, exits::usage, "the ttl is longer", environment());
    program p{{"release", "--ticket", ticket}, environment()};
    BOOST_TEST(p.wait() == 0, "none of these has done anything: " << p.errors());
}

// A script's variable that was never set. It must not become a lock of another kind.
BOOST_AUTO_TEST_CASE(an_empty_ticket_is_wrong_usage)
{
    constexpr char const* words = "--ticket: the ticket is empty";
    for (char const* const command : {"extend", "release"}) expect_failure({command, "--ticket", ""}, exits::usage, words, environment());
    expect_failure({"run", "--ticket", "", "--", "echo", "no"}, exits::usage, words, environment());
    expect_failure({"run", "--ticket", "", "job", "--", "echo", "no"}, exits::usage, words, environment());
    expect_failure({"run", "--ticket=", "job", "--", "echo", "no"}, exits::usage, "--ticket= has no value", environment());
    auto const ticket = acquire();
    expect_failure({"release", "--ticket", "", "--force", "--yes", "job"}, exits::usage, words, environment());
    BOOST_TEST(count_with("job") >= 2u);
}

BOOST_AUTO_TEST_CASE(a_ticket_of_other_servers_is_told_apart)
{
    auto const ticket = acquire();
    three_servers others;
    program other_set{{"acquire", "another", "--bootstrap", "--nodes", others.urls()}, {}};
    BOOST_TEST(other_set.wait() == 0, other_set.errors());
    program two{{"extend", "--ticket", ticket, "--nodes", others.all[0].url()}, {}};
    BOOST_TEST(two.wait() == exits::config, two.errors());
    expect_failure({"release", "--ticket", ticket, "--nodes", others.urls()}, exits::config, "the ticket is of a lock on other nodes");
    BOOST_TEST(count_with("job") >= 2u);
}

BOOST_AUTO_TEST_CASE(a_ticket_that_nobody_could_read_leaves_no_lock)
{
    program p{{"acquire", "job", "--bootstrap"}, {.environment = {{"REDLOCK_NODES", urls()}}, .closed_output = true}};
    BOOST_TEST(p.wait() == exits::internal, p.errors());
    BOOST_TEST(contains(p.errors(), "cannot write to the output"), p.errors());
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(an_interrupted_wait_leaves_nothing)
{
    auto const ticket = acquire({"--ttl", "20s"});
    program waiting{{"acquire", "job"}, environment()};
    // Who waits asks with PTTL when the key expires.
    BOOST_TEST_REQUIRE(eventually([&] { return contains(all[0].command({"INFO", "commandstats"}), "cmdstat_pttl"); }));
    waiting.send(SIGTERM);
    BOOST_TEST(waiting.wait() == 128 + SIGTERM);
    BOOST_TEST(waiting.output() == "");
    program p{{"release", "--ticket", ticket}, environment()};
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(a_command_gets_the_input_behind_its_ticket)
{
    auto const ticket = acquire({"--ttl", "20s"});
    program p{{"run", "--ticket", "-", "--", "cat"}, environment(ticket + "\none\ntwo\n")};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(p.output() == "one\ntwo\n");
}

BOOST_AUTO_TEST_CASE(what_nohup_ignores_ends_no_waiting)
{
    auto const ticket = acquire({"--ttl", "20s"});
    auto options = environment();
    options.ignore_hangup = true;
    program waiting{{"acquire", "job", "--wait", "15s"}, options};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(all[0].command({"INFO", "commandstats"}), "cmdstat_pttl"); }));
    waiting.send(SIGHUP);
    program p{{"release", "--ticket", ticket}, environment()};
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(waiting.wait() == 0, waiting.errors());
    BOOST_TEST(waiting.output().starts_with("redlock-ticket-1."));
}

BOOST_AUTO_TEST_CASE(tickets_as_json)
{
    program got{{"acquire", "job", "--bootstrap", "--json"}, environment()};
    BOOST_TEST(got.wait() == 0, got.errors());
    auto const first = got.json();
    BOOST_TEST(first.at("name") == "job");
    BOOST_TEST(first.at("token").get<std::uint64_t>() > 0u);
    BOOST_TEST(first.at("valid_ms").get<int>() > 20'000);
    program more{{"extend", "--json", "--ticket", first.at("ticket").get<std::string>()}, environment()};
    BOOST_TEST(more.wait() == 0, more.errors());
    BOOST_TEST(more.json().at("name") == "job");
    program back{{"release", "--json", "--ticket", more.json().at("ticket").get<std::string>()}, environment()};
    BOOST_TEST(back.wait() == 0, back.errors());
    BOOST_TEST(back.json().at("released") == true);
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(who_waits_sees_for_what)
{
    auto const ticket = acquire({"--ttl", "20s", "--label", "import"});
    program waiting{{"acquire", "job"}, environment()}, quiet{{"acquire", "job", "-q"}, environment()};
    // The first note comes after three seconds; the tenths depend on how busy the machine is.
    BOOST_TEST(eventually([&] { return contains(waiting.errors(), "redlock: waiting for job for 3."); }), waiting.errors());
    BOOST_TEST(contains(waiting.errors(), "label import"), waiting.errors());
    for (program* const p : {&waiting, &quiet}) {
        p->send(SIGTERM);
        BOOST_TEST(p->wait() == 128 + SIGTERM);
    }
    BOOST_TEST(quiet.errors() == "");
}

BOOST_AUTO_TEST_CASE(who_waits_for_servers_sees_why)
{
    program alone{{"acquire", "job", "--bootstrap"},
                  {.environment = {{"REDLOCK_NODES", all[0].url() + ",redis://127.0.0.1:1,redis://127.0.0.1:2"}}}};
    BOOST_TEST(eventually([&] { return contains(alone.errors(), "Connection refused"); }), alone.errors());
    alone.send(SIGTERM);
    BOOST_TEST(alone.wait() == 128 + SIGTERM);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
