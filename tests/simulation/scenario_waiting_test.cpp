// How long clients wait for each other, and what it costs. The queue within one client is in tests/unit/core/acquire/wait_queue_story_test.cpp.
#include "scenario.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using namespace redlock;
using namespace redlock::simulation;

constexpr duration round_trip = 2 * one_way;

// Relies on what nodes tell: a random delay would show.
constexpr lock_options waiting{.ttl = 9s, .min_retry_delay = 3s, .max_retry_delay = 3s, .poll_interval = 500ms};

constexpr auto every_kind = {asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal};

struct waiting_story : three_servers {
    void foreigner_takes_it()
    {
        for (auto const s : {A, B, C}) at(s).memory.set("resource", "foreign", std::nullopt, at(s).time());
    }
    void foreigner_leaves()
    {
        for (auto const s : {A, B, C}) at(s).memory.del("resource");
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(scenario_waiting)

BOOST_FIXTURE_TEST_CASE(a_release_wakes_who_waits, waiting_story)
{
    auto& first = one.try_acquire();
    run_to(1s);
    auto& second = two.acquire(waiting);
    run_to(1'200ms);
    one.release(first);
    run_to(1'200ms + 2 * round_trip);  // the release and its push, the attempt and its answer
    BOOST_TEST(second.valid());
    BOOST_TEST(two.counters().wakeups == 1u);
    BOOST_TEST(two.counters().polls == 0u);
}

// A server drops what a client subscribed to together with the connection.
BOOST_FIXTURE_TEST_CASE(a_connection_that_is_cut_while_its_client_waits_costs_at_most_a_poll_interval, waiting_story)
{
    auto& first = one.try_acquire();
    run_to(1s);
    auto& second = two.acquire(waiting);
    run_to(1'200ms);
    for (auto const s : {A, B, C}) two.to(s).cut();
    run_to(1'250ms);
    for (auto const s : {A, B, C}) BOOST_TEST(two.to(s).up());
    one.release(first);
    run_to(1'200ms + waiting.poll_interval + 2 * round_trip);
    BOOST_TEST(second.valid());
}

BOOST_FIXTURE_TEST_CASE(one_node_in_three_that_tells_nothing_costs_nothing, waiting_story)
{
    two.to(B).may_watch = false;
    auto& first = one.try_acquire();
    run_to(1s);
    auto& second = two.acquire(waiting);
    run_to(1'200ms);
    one.release(first);
    run_to(1'200ms + 2 * round_trip);
    BOOST_TEST(second.valid());
}

BOOST_FIXTURE_TEST_CASE(a_foreign_holder_without_an_end_costs_a_look_each_poll_interval, waiting_story)
{
    foreigner_takes_it();
    auto& first = one.acquire(waiting);
    run_to(1s);
    constexpr std::size_t looks = 10s / waiting.poll_interval;
    BOOST_TEST(messages_of(one, 10s) == 3u * looks);  // each asks three nodes
    BOOST_TEST(!first.done);
    foreigner_leaves();
    advance(one_way + round_trip);  // the push, the attempt and its answer
    BOOST_TEST(first.valid());
}

// Each extension is a change: the nodes say so, and are asked again. The first one may as well be a release, so an attempt is made. As soon as two
// nodes refuse it, the third is told to forget it.
BOOST_FIXTURE_TEST_CASE(an_idle_waiter_asks_once_for_each_change, waiting_story)
{
    one.try_acquire();
    run_to(1s);
    auto& second = two.acquire({.ttl = 9s, .poll_interval = 10s});
    run_to(2s);
    BOOST_TEST(messages_of(two, 60s) ==
               3u * 20u + 1u);  // 20 extensions, each asked of three nodes; +1: the third node is told to forget the attempt
    BOOST_TEST(!second.done);
}

// The first has the lock. What the nodes tell the second, that they keep it for 8 s, is still on the way when the first gives it back.
BOOST_FIXTURE_TEST_CASE(what_nodes_said_of_a_lease_that_is_given_back_keeps_nobody_waiting, waiting_story)
{
    auto& first = one.try_acquire({.ttl = 8s});  // which cannot be passed on to somebody who wants more
    auto& second = one.acquire(waiting);
    run_to(round_trip + one_way / 2);
    BOOST_TEST(first.valid());
    one.release(first);
    run_to(20ms);
    BOOST_TEST(second.valid());
    BOOST_TEST(one.counters().handoffs == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_lost_is_not_passed_on, waiting_story)
{
    auto& first = one.try_acquire({.ttl = 9s, .fencing = false});
    auto& second = one.acquire({.ttl = 9s, .fencing = false});
    run_to(1s);
    for (auto const s : {A, B, C}) at(s).memory.flush_all();
    run_to(3s + 3 * round_trip);  // the lease is extended, and so found lost, at ttl / 3
    BOOST_TEST(!first.valid());
    BOOST_TEST(second.valid());
    BOOST_TEST((second.at > 3s));
    BOOST_TEST(one.counters().handoffs == 0u);
}

BOOST_FIXTURE_TEST_CASE(others_have_their_turn, waiting_story)
{
    constexpr lock_options twice{.ttl = 9s, .max_handoffs = 2, .max_local_hold = 10s};
    std::vector<acquisition*> ours;
    for (std::size_t i = 0; i < 5; ++i) ours.push_back(&one.acquire(twice));
    run_to(1ms);
    auto& theirs = two.acquire(waiting);
    run_to(10ms);
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(ours[i]->valid());
        one.release(*ours[i]);
        advance(10ms);
    }
    BOOST_TEST(theirs.valid());
    BOOST_TEST(!ours[3]->done);
    two.release(theirs);
    advance(10ms);
    BOOST_TEST(ours[3]->valid());
}

// The first waits for the nodes, the second for the first. Whoever of them gives up, the other has the lock when it is free.
BOOST_AUTO_TEST_CASE(whoever_gives_up_in_a_line_does_not_hold_up_the_others)
{
    for (auto const type : every_kind) {
        for (std::size_t who : {0u, 1u, 2u}) {
            waiting_story story;
            auto& holder = story.one.try_acquire();
            story.run_to(1s);
            std::vector<acquisition*> line;
            for (int i = 0; i < 3; ++i) line.push_back(&story.two.acquire(waiting));
            story.run_to(2s);
            story.two.cancel(*line[who], type);
            story.run_to(2'100ms);
            BOOST_TEST(line[who]->ec == asio::error::operation_aborted);
            story.one.release(holder);
            story.run_to(2'100ms + 2 * round_trip);
            auto& next = *line[who == 0 ? 1 : 0];
            BOOST_TEST(next.valid());
            story.two.release(next);
            story.run_to(2'200ms);
            BOOST_TEST(line[who == 2 ? 1 : 2]->valid());
            story.teardown();
        }
    }
}

BOOST_FIXTURE_TEST_CASE(a_line_whose_client_is_cut_off_has_the_lock_when_it_is_back, waiting_story)
{
    auto& first = one.acquire();
    auto& second = one.acquire();
    run_to(1s);
    one.unplug({A, B, C});
    run_to(20s);
    BOOST_TEST(!first.valid());
    BOOST_TEST(!second.done);
    one.plug_in({A, B, C});
    run_to(22s);
    BOOST_TEST(second.valid());
}

BOOST_AUTO_TEST_SUITE_END()
