// Clients that ask at the same moment, of which none gets a majority: none of them is told that another one has the lock.
#include "support/printing.hpp"

#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using testing::simulation;

struct asked {
    std::optional<error_code> ec;
    lease held;
    attempt_report report;
    testing::clock::time_point at{};
};

struct rivals {
    rivals(std::size_t nodes, std::uint32_t seed, std::size_t clients) : sim{{.nodes = nodes, .seed = seed, .max_lingering = 80us}}
    {
        for (std::size_t i = 0; i < clients; ++i) all.push_back(sim.make_client("client " + std::to_string(i)));
        sim.run_for(1s);
    }

    std::vector<asked> ask_at_once(lock_options const& options)
    {
        std::vector<asked> answers(all.size());
        for (std::size_t i = 0; i < all.size(); ++i) {
            auto const note = [&into = answers[i]](error_code ec, lease got) {
                into.ec = ec;
                into.held = std::move(got);
                into.at = testing::clock::now();
            };
            redlock::lock const resource{all[i], "resource", options};
            options.max_attempts > 0 ? resource.acquire(answers[i].report, note) : resource.try_acquire(answers[i].report, note);
        }
        sim.run_for(1s);
        return answers;
    }

    simulation sim;
    std::vector<redlock::client> all;
};

// How many rounds ended without a holder. In none of these a client is told that there is one.
int rounds_without_a_holder(std::size_t nodes, lock_options const& options)
{
    int without = 0;
    for (std::uint32_t seed = 1; seed <= 200; ++seed) {
        rivals world{nodes, seed, 3};
        auto const answers = world.ask_at_once(options);
        if (std::any_of(answers.begin(), answers.end(), [](asked const& a) { return !a.ec.value(); })) continue;
        ++without;
        for (asked const& a : answers) {
            BOOST_TEST(*a.ec == errc::split_votes, "seed " << seed << ": " << a.ec->message());
            BOOST_TEST(a.report.outcome == errc::split_votes);
            auto const granted = [](node_verdict const& v) { return v.vote == vote::granted; };
            BOOST_TEST(std::any_of(a.report.nodes.begin(), a.report.nodes.end(), granted));
        }
    }
    return without;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(split_votes_story)

BOOST_AUTO_TEST_CASE(none_of_three_clients_is_told_that_another_one_has_what_nobody_has)
{
    BOOST_TEST(rounds_without_a_holder(3, {.ttl = 5s}) > 20);
    BOOST_TEST(rounds_without_a_holder(3, {.ttl = 5s, .fencing = false}) > 20);
    BOOST_TEST(rounds_without_a_holder(5, {.ttl = 5s}) > 20);
}

BOOST_AUTO_TEST_CASE(the_last_attempt_says_it_too) { BOOST_TEST(rounds_without_a_holder(3, {.ttl = 5s, .max_attempts = 1}) > 20); }

BOOST_AUTO_TEST_CASE(of_a_lock_that_is_held_everywhere_it_is_said_that_another_has_it)
{
    for (std::uint32_t seed = 1; seed <= 50; ++seed) {
        rivals world{3, seed, 3};
        world.sim.hold_elsewhere("resource");
        for (asked const& a : world.ask_at_once({.ttl = 5s})) BOOST_TEST(*a.ec == errc::contended);
    }
}

// The node that is stopped may have granted it, but who is refused need not wait for the node timeout to hear that.
BOOST_AUTO_TEST_CASE(a_stopped_node_is_waited_for_only_as_long_again_as_the_others_took)
{
    rivals world{3, 1, 1};
    world.sim.hold_elsewhere("resource");
    world.sim.node(1).stop();
    auto const start = testing::clock::now();
    auto const answers = world.ask_at_once({.ttl = 5s});
    BOOST_TEST(*answers[0].ec == errc::contended);
    BOOST_TEST((answers[0].at - start < 15ms));  // and the node timeout is much longer
    BOOST_TEST(answers[0].report.nodes[1].vote == vote::pending);
    BOOST_TEST(!answers[0].report.nodes[1].error);
}

BOOST_AUTO_TEST_CASE(permits_that_several_clients_want_at_once)
{
    int without = 0;
    for (std::uint32_t seed = 1; seed <= 100; ++seed) {
        rivals world{3, seed, 3};
        std::vector<asked> answers(3);
        for (std::size_t i = 0; i < 3; ++i)
            semaphore{world.all[i], "slots", {.permits = 1, .lock = {.ttl = 5s}}}.try_acquire(
                [&into = answers[i]](error_code ec, lease got) {
                    into.ec = ec;
                    into.held = std::move(got);
                });
        world.sim.run_for(1s);
        if (std::any_of(answers.begin(), answers.end(), [](asked const& a) { return !a.ec.value(); })) continue;
        ++without;
        for (asked const& a : answers) BOOST_TEST(*a.ec == errc::split_votes, "seed " << seed << ": " << a.ec->message());
    }
    BOOST_TEST(without > 5);
}

BOOST_AUTO_TEST_SUITE_END()
