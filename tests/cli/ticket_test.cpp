// Tickets in a shell: redlock acquire, extend, release --ticket and run --ticket.
#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstddef>
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

    void fails(arguments const& args, int code, std::string const& words, std::string const& input = "")
    {
        program p{args, environment(input)};
        BOOST_TEST(p.wait() == code, p.errors());
        BOOST_TEST(contains(p.errors(), words), p.errors());
        BOOST_TEST(p.output() == "");
    }
};

constexpr char const* used_up = "job is not held by this ticket any more";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(ticket, tickets)

BOOST_AUTO_TEST_CASE(a_lock_is_held_after_the_command_that_acquired_it)
{
    auto const ticket = acquire({"--ttl", "20s", "--label", "import"});
    BOOST_TEST(count_with("job") >= 2u, "a node that is admitted later has no part in it");
    fails({"acquire", "job", "--no-wait"}, 75, "somebody else holds the lock");
    fails({"acquire", "job", "--no-wait", "--conflict-exit-code", "7"}, 7, "somebody else holds the lock");
    fails({"acquire", "job", "--wait", "100ms"}, 75, "job was not acquired");

    program view{{"inspect", "job", "--json"}, environment()};
    BOOST_TEST(view.wait() == 0);
    BOOST_TEST(view.json().at("locks").at(0).at("holder").at("label") == "import");

    program p{{"release", "--ticket", ticket}, environment()};
    BOOST_TEST(p.wait() == 0, p.errors());
    BOOST_TEST(p.output() + p.errors() == "");
    BOOST_TEST(count_with("job") == 0u);
    fails({"release", "--ticket", ticket}, 79, used_up);
}

BOOST_AUTO_TEST_CASE(each_extension_makes_the_next_ticket)
{
    auto const first = acquire({"--ttl", "20s"});
    auto const second = ticket_of({"extend", "--ticket", first, "--ttl", "29s"});
    BOOST_TEST(first != second);
    BOOST_TEST(count_with_ttl(20s, 29s) >= 2, "a node that is admitted later has no part in it");
    fails({"extend", "--ticket", first}, 79, used_up);
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

    program again{{"run", "--ticket", ticket, "--", "echo", "no"}, environment()};
    BOOST_TEST(again.wait() == 79, again.errors());
    BOOST_TEST(contains(again.errors(), used_up), again.errors());
    BOOST_TEST(again.output() == "");
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
        fails({command, "--ticket", "x"}, 64, "this is no ticket of a lease");
        fails({command, "--ticket", ticket.substr(0, 100)}, 64, "this is no ticket of a lease");
        fails({command, "--ticket", "redlock-ticket-2.abc"}, 64, "newer version");
        fails({command, "--ticket", "-"}, 64, "there is no line in the input");
    }
    fails({"run", "--ticket", "x", "--", "true"}, 64, "this is no ticket of a lease");
    fails({"run", "job", "--ticket", ticket, "--", "true"}, 64, "--ticket goes without NAME");
    fails({"run", "--shared", "--ticket", ticket, "--", "true"}, 64, "--ticket goes without --shared");
    fails({"release", "job", "--ticket", ticket}, 64, "--ticket goes without NAME");
    fails({"release", "--force", "--ticket", ticket}, 64, "--ticket goes without NAME");
    fails({"release"}, 64, "NAME is required");
    fails({"acquire"}, 64, "NAME is required");
    fails({"acquire", "a", "b"}, 64, "one argument too many");
    fails({"extend"}, 64, "--ticket is required");
    fails({"extend", "--ticket", ticket, "--ttl", "5m"}, 64, "the ttl is longer");
    program p{{"release", "--ticket", ticket}, environment()};
    BOOST_TEST(p.wait() == 0, "none of these has done anything: " << p.errors());
}

// A script's variable that was never set. It must not become a lock of another kind.
BOOST_AUTO_TEST_CASE(an_empty_ticket_is_wrong_usage)
{
    constexpr char const* words = "--ticket: the ticket is empty";
    for (char const* const command : {"extend", "release"}) fails({command, "--ticket", ""}, 64, words);
    fails({"run", "--ticket", "", "--", "echo", "no"}, 64, words);
    fails({"run", "--ticket", "", "job", "--", "echo", "no"}, 64, words);
    fails({"run", "--ticket=", "job", "--", "echo", "no"}, 64, "--ticket: this is no ticket of a lease");  // the next word is taken for it
    auto const ticket = acquire();
    fails({"release", "--ticket", "", "--force", "--yes", "job"}, 64, words);
    BOOST_TEST(count_with("job") >= 2u);
}

BOOST_AUTO_TEST_CASE(a_ticket_of_other_servers_is_told_apart)
{
    auto const ticket = acquire();
    three_servers others;
    program founds{{"acquire", "another", "--bootstrap", "--nodes", others.urls()}, {}};
    BOOST_TEST(founds.wait() == 0, founds.errors());
    program two{{"extend", "--ticket", ticket, "--nodes", others.all[0].url()}, {}};
    BOOST_TEST(two.wait() == 78, two.errors());
    program p{{"release", "--ticket", ticket, "--nodes", others.urls()}, {}};
    BOOST_TEST(p.wait() == 78, p.errors());
    BOOST_TEST(contains(p.errors(), "the ticket is of a lock on other nodes"), p.errors());
    BOOST_TEST(count_with("job") >= 2u);
}

BOOST_AUTO_TEST_CASE(a_ticket_that_nobody_could_read_leaves_no_lock)
{
    program p{{"acquire", "job", "--bootstrap"}, {.environment = {{"REDLOCK_NODES", urls()}}, .closed_output = true}};
    BOOST_TEST(p.wait() == 70, p.errors());
    BOOST_TEST(contains(p.errors(), "cannot write to the output"), p.errors());
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(an_interrupted_wait_leaves_nothing)
{
    auto const ticket = acquire({"--ttl", "20s"});
    program waiting{{"acquire", "job"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(all[0].command({"INFO", "commandstats"}), "cmdstat_pttl"); }));
    waiting.send(SIGTERM);
    BOOST_TEST(waiting.wait() == 128 + SIGTERM);
    BOOST_TEST(waiting.output() == "");
    program p{{"release", "--ticket", ticket}, environment()};
    BOOST_TEST(p.wait() == 0);
    BOOST_TEST(count_with("job") == 0u);
}

BOOST_AUTO_TEST_CASE(who_waits_sees_for_what)
{
    auto const ticket = acquire({"--ttl", "20s", "--label", "import"});
    program waiting{{"acquire", "job"}, environment()}, quiet{{"acquire", "job", "-q"}, environment()};
    BOOST_TEST(eventually([&] { return contains(waiting.errors(), "redlock: waiting for job for 3."); }), waiting.errors());
    BOOST_TEST(contains(waiting.errors(), "label import"), waiting.errors());
    for (program* const p : {&waiting, &quiet}) {
        p->send(SIGTERM);
        BOOST_TEST(p->wait() == 128 + SIGTERM);
    }
    BOOST_TEST(quiet.errors() == "");

    program alone{{"acquire", "job", "--bootstrap"},
                  {.environment = {{"REDLOCK_NODES", all[0].url() + ",redis://127.0.0.1:1,redis://127.0.0.1:2"}}}};
    BOOST_TEST(eventually([&] { return contains(alone.errors(), "Connection refused"); }), alone.errors());
    alone.send(SIGTERM);
    BOOST_TEST(alone.wait() == 128 + SIGTERM);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
