// redlock semaphore NAME --permits K: a change of the number, and what comes between.
#include "permit_holders.hpp"

#include <boost/test/unit_test.hpp>

#include <csignal>
#include <deque>
#include <string>

namespace redlock::testing {
namespace {

std::string number_on_first_node(servers& of) { return of.all[0].command({"GET", "exports:permits"}); }

}  // namespace

BOOST_AUTO_TEST_SUITE(permit_changes)

BOOST_FIXTURE_TEST_CASE(a_larger_number_counts_at_once, two_holders)
{
    program change{{"semaphore", "exports", "--permits", "4"}, environment()};
    BOOST_TEST(change.wait() == 0, change.errors());
    BOOST_TEST(contains(change.output(), "exports: 4 permits, 2 held, about 2 free"), change.output());
    program old{run("exports", permits("3", {"--no-wait"}), {"true"}), environment()};
    BOOST_TEST(old.wait() == 78, old.errors());
    program now{run("exports", permits("4", {"--no-wait"}), {"true"}), environment()};
    BOOST_TEST(now.wait() == 0, now.errors());
}

// A change that waits is killed, and repeated: it waits for the same holders, though the nodes know the number already.
BOOST_FIXTURE_TEST_CASE(a_smaller_number_waits_for_those_above_it, two_holders)
{
    bool const one_is_above = std::stoi(slot_of_holder(one)) > std::stoi(slot_of_holder(two));
    program& above = one_is_above ? one : two;
    {
        program change{{"semaphore", "exports", "--permits", "1"}, environment()};
        BOOST_TEST_REQUIRE(eventually([&] { return contains(change.errors(), "1 permit from now on; waiting for slot "); }),
                           change.errors());
        BOOST_TEST(contains(change.errors(), "process " + std::to_string(above.pid())), change.errors());
        BOOST_TEST(number_on_first_node(*this) == "2 1");
        change.send(SIGKILL);
        BOOST_TEST(change.wait() == 128 + SIGKILL);
    }
    BOOST_TEST(seen().at("held_above").get<int>() >= 1);
    program impatient{{"semaphore", "exports", "--permits", "1", "--wait", "1s"}, environment()};
    BOOST_TEST(impatient.wait() == 75);
    BOOST_TEST(contains(impatient.errors(), "others still hold slots above it: slot "), impatient.errors());
    program interrupted{{"semaphore", "exports", "--permits", "1"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(interrupted.errors(), "waiting for slot "); }), interrupted.errors());
    interrupted.send(SIGINT);
    BOOST_TEST(interrupted.wait() == 128 + SIGINT);
    program again{{"semaphore", "exports", "--permits", "1"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(again.errors(), "waiting for slot "); }), again.errors());
    for (program* each : {&one, &two}) each->send(SIGTERM);
    BOOST_TEST(again.wait() == 0, again.errors());
    BOOST_TEST(contains(again.output(), "exports: 1 permit, 0 held, about 1 free"), again.output());
}

// A change that waits learns of a later one.
BOOST_FIXTURE_TEST_CASE(a_change_that_was_overtaken, two_holders)
{
    program first{{"semaphore", "exports", "--permits", "1"}, environment()};
    BOOST_TEST_REQUIRE(eventually([&] { return contains(first.errors(), "waiting for slot "); }), first.errors());
    program second{{"semaphore", "exports", "--permits", "8"}, environment()};
    BOOST_TEST(second.wait() == 0, second.errors());
    BOOST_TEST(first.wait() == 75);
    BOOST_TEST(contains(first.errors(), "somebody else has changed the number meanwhile; it has 8 permits"), first.errors());
}

// As with `run`, --wait 0s is no time at all.
BOOST_FIXTURE_TEST_CASE(a_change_need_not_wait, two_holders)
{
    program change{{"semaphore", "exports", "--permits", "1", "--wait", "0s"}, environment()};
    BOOST_TEST(change.wait() == 75, change.errors());
    BOOST_TEST(contains(change.errors(), "slots above the number are held; the new number counts already (3 of 3 nodes)"), change.errors());
    program larger{{"semaphore", "exports", "--permits", "5", "--wait", "0s"}, environment()};
    BOOST_TEST(larger.wait() == 0, larger.errors());
}

// All nodes have to be told. If one is not there, no node is, and the text says what is so now before it says why.
BOOST_FIXTURE_TEST_CASE(a_change_while_a_node_is_down, two_holders)
{
    all[0].kill();
    program change{{"semaphore", "exports", "--permits", "5", "--wait", "1s"}, environment()};
    BOOST_TEST(change.wait() == 69, change.errors());
    BOOST_TEST(contains(change.errors(), "exports: 2 of 3 nodes could be told the number of permits, and all have to know it: "),
               change.errors());
    BOOST_TEST(contains(change.errors(), "; it has 3 permits\n"), change.errors());
    BOOST_TEST(contains(change.errors(), ": Connection refused\n"), change.errors());
    BOOST_TEST(all[1].command({"GET", "exports:permits"}) == "1 3");
}

// However they meet, the number is one of those that succeeded, on all nodes.
BOOST_FIXTURE_TEST_CASE(changes_at_the_same_time, three_servers)
{
    program first{run("exports", permits("3"), {"true"}), environment()};
    BOOST_TEST_REQUIRE(first.wait() == 0, first.errors());
    for (int round = 0; round < 5; ++round) {
        std::deque<program> changes;
        for (char const* number : {"5", "6", "7"})
            changes.emplace_back(arguments{"semaphore", "exports", "--permits", number}, environment());
        std::string winners;
        for (std::size_t i = 0; i < changes.size(); ++i) {
            int const code = changes[i].wait();
            BOOST_TEST((code == 0 || code == 75), changes[i].errors());
            if (code == 0) winners += std::to_string(5 + i);
            else BOOST_TEST(contains(changes[i].errors(), "somebody else"), changes[i].errors());
        }
        BOOST_TEST(!winners.empty());
        auto const kept = number_on_first_node(*this);
        for (auto& s : all) BOOST_TEST(s.command({"GET", "exports:permits"}) == kept);
        BOOST_TEST(contains(winners, kept.substr(kept.find(' ') + 1)), kept + " of " + winners);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
