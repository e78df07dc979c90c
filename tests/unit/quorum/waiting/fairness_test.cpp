#include "quorum/waiting/fairness.hpp"

#include "unit/quorum/quorum_support.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <vector>

namespace redlock::quorum {

using namespace std::chrono_literals;

namespace {

constexpr duration one_slot_time = 1ms;
constexpr fairness_limits limits{3, 100ms};

time_point at_time(duration d) { return time_point{1h} + d; }

}  // namespace

BOOST_AUTO_TEST_SUITE(turns)

BOOST_AUTO_TEST_CASE(a_turn_ends_after_so_many_leases)
{
    quorum::fairness t;
    t.won(at_time(0ms), one_slot_time);
    for (int i = 0; i < 3; ++i) {
        BOOST_TEST(t.may_hand_over(at_time(1ms), limits));
        t.handed_over();
    }
    BOOST_TEST(!t.may_hand_over(at_time(1ms), limits));
    BOOST_TEST((t.released(at_time(2ms), limits, one_slot_time) == at_time(4ms + 16ms)), "it stays out of the race for a moment");
}

BOOST_AUTO_TEST_CASE(a_turn_ends_after_so_much_time)
{
    quorum::fairness t;
    t.won(at_time(0ms), one_slot_time);
    BOOST_TEST(t.may_hand_over(at_time(99ms), limits));
    BOOST_TEST(!t.may_hand_over(at_time(100ms), limits));
}

BOOST_AUTO_TEST_CASE(nothing_is_passed_on_where_the_limit_is_zero)
{
    quorum::fairness t;
    t.won(at_time(0ms), one_slot_time);
    BOOST_TEST(!t.may_hand_over(at_time(0ms), fairness_limits{0, 100ms}));
    BOOST_TEST(!t.may_hand_over(at_time(0ms), fairness_limits{3, 0ms}));
}

BOOST_AUTO_TEST_CASE(who_releases_within_its_turn_may_ask_again_at_once)
{
    quorum::fairness t;
    t.won(at_time(0ms), one_slot_time);
    BOOST_TEST((t.released(at_time(10ms), limits, one_slot_time) <= at_time(10ms)));
}

BOOST_AUTO_TEST_CASE(to_be_first_again_and_again_is_one_turn)
{
    quorum::fairness t;
    duration now = 0ms;
    int rounds = 0;
    for (; rounds < 1'000; ++rounds) {
        t.won(at_time(now), one_slot_time);
        now += 5ms;
        if (t.released(at_time(now), limits, one_slot_time) > at_time(now)) break;
        now += 1ms;
    }
    BOOST_TEST(rounds == 16);  // 17 times 5 ms, and 16 times 1 ms between them
    BOOST_TEST((t.out_until() == at_time(now + 18ms)));
    t.won(at_time(now + 19ms), one_slot_time);
    BOOST_TEST(t.may_hand_over(at_time(now + 19ms), limits), "and then the next turn begins");
}

BOOST_AUTO_TEST_CASE(who_comes_back_later_begins_a_new_turn)
{
    quorum::fairness t;
    t.won(at_time(0ms), one_slot_time);
    t.released(at_time(90ms), limits, one_slot_time);
    t.won(at_time(1s), one_slot_time);
    BOOST_TEST((t.released(at_time(1020ms), limits, one_slot_time) <= at_time(1020ms)));
}

BOOST_AUTO_TEST_CASE(who_has_seen_others_gives_them_their_turn_after_each_release)
{
    quorum::fairness t;
    t.refused(at_time(0ms));
    t.won(at_time(1ms), one_slot_time);
    BOOST_TEST((t.released(at_time(2ms), limits, one_slot_time) > at_time(2ms)));
    t.won(at_time(5ms), one_slot_time);
    BOOST_TEST((t.released(at_time(6ms), limits, one_slot_time) > at_time(6ms)));
    t.won(at_time(2s), one_slot_time);
    BOOST_TEST((t.released(at_time(2s), limits, one_slot_time) <= at_time(2s)), "and forgets them when they are gone");
}

BOOST_AUTO_TEST_CASE(who_lost_more_races_than_usual_goes_first)
{
    quorum::fairness t;
    BOOST_TEST((t.head_start_of_others(one_slot_time, 0) == 0ms));
    for (int waits = 0; waits < 30; ++waits) {
        for (int lost = 0; lost < 6; ++lost) t.lost_a_race();
        t.won(at_time(waits * 1s), one_slot_time);
    }
    auto const newcomer = t.head_start_of_others(one_slot_time, 0);
    BOOST_TEST((newcomer >= 4 * one_slot_time && newcomer <= 6 * one_slot_time));
    t.lost_a_race();
    BOOST_TEST((t.head_start_of_others(one_slot_time, 0) == newcomer - one_slot_time));
    for (int lost = 0; lost < 6; ++lost) t.lost_a_race();
    BOOST_TEST((t.head_start_of_others(one_slot_time, 0) == 0ms));
}

BOOST_AUTO_TEST_CASE(a_head_start_is_bounded)
{
    quorum::fairness t;
    for (int waits = 0; waits < 30; ++waits) {
        for (int lost = 0; lost < 1'000; ++lost) t.lost_a_race();
        t.won(at_time(waits * 1s), one_slot_time);
    }
    BOOST_TEST((t.head_start_of_others(one_slot_time, 0) == 8 * one_slot_time));
}

BOOST_AUTO_TEST_CASE(the_writer_who_has_waited_longest_goes_first)
{
    quorum::fairness t;
    auto const now = [](int waits, duration waited = {}) { return at_time(waits * 1s + waited); };
    BOOST_TEST((t.head_start_of_readers_and_writers(now(0), one_slot_time, 0.5) == one_slot_time * 3 / 2),
               "who knows of no wait leaves it to chance");
    for (int waits = 0; waits < 30; ++waits) {
        t.refused(now(waits));
        t.refused(now(waits, 50ms));  // of the same wait
        t.won(now(waits, 100ms), one_slot_time);
    }
    t.refused(now(30));
    auto const newcomer = t.head_start_of_readers_and_writers(now(30), one_slot_time, 0);
    BOOST_TEST((newcomer > 8 * one_slot_time && newcomer <= 9 * one_slot_time));
    auto const half = t.head_start_of_readers_and_writers(now(30, 50ms), one_slot_time, 0);
    BOOST_TEST((half > 4 * one_slot_time && half < 6 * one_slot_time));
    for (auto const waited : {100ms, 1000ms})
        BOOST_TEST((t.head_start_of_readers_and_writers(now(30, waited), one_slot_time, 0) == one_slot_time),
                   "readers who wait are still before it");
}

BOOST_AUTO_TEST_CASE(who_stays_out_for_nobody_does_it_for_less_time)
{
    quorum::fairness t;
    duration now = 0ms;
    std::vector<duration> stays;
    for (int i = 0; i < 6; ++i) {
        t.won(at_time(now), one_slot_time);
        now += 100ms;
        auto const until = t.released(at_time(now), limits, one_slot_time);
        stays.push_back(until - at_time(now) - 2 * one_slot_time);
        now = until - at_time(0ms);
    }
    BOOST_TEST((stays.front() == 16ms));
    BOOST_TEST((stays.back() < 5ms));
    t.refused(at_time(now));
    now += 2s;
    t.won(at_time(now), one_slot_time);
    BOOST_TEST((t.released(at_time(now + 100ms), limits, one_slot_time) == at_time(now + 100ms + 2 * one_slot_time + 16ms)));
}

BOOST_AUTO_TEST_CASE(where_too_many_race_most_take_naps)
{
    quorum::fairness t;
    duration last{};
    for (int naps = 0; naps < 3; ++naps) {
        for (int lost = 1; lost < (naps == 0 ? 24 : 16); ++lost) {
            t.lost_a_race();
            BOOST_TEST((t.back_off(one_slot_time, false, 0.5) == duration::zero()));
        }
        t.lost_a_race();
        auto const back_off = t.back_off(one_slot_time, false, 0.5);
        BOOST_TEST((back_off > last), "each longer than the one before");
        last = back_off;
    }
    BOOST_TEST((t.back_off(one_slot_time, false, 0.5) == duration::zero()));
    t.backed_off_too_long();
    for (int lost = 0; lost < 16; ++lost) t.lost_a_race();
    BOOST_TEST((t.back_off(one_slot_time, false, 0.5) == last), "and shorter when the lock was found to be free");
    for (int lost = 0; lost < 1'000; ++lost) {
        t.lost_a_race();
        last = std::max(last, t.back_off(one_slot_time, false, 1.0));
    }
    BOOST_TEST((last <= 7500ms));
}

BOOST_AUTO_TEST_CASE(where_the_nodes_are_crowded_the_first_lost_race_is_enough)
{
    quorum::fairness t;
    BOOST_TEST((t.back_off(one_slot_time, true, 0.5) == duration::zero()));
    t.lost_a_race();
    BOOST_TEST((t.back_off(one_slot_time, true, 0.5) == 16 * one_slot_time));
}

BOOST_AUTO_TEST_CASE(what_it_remembers_is_over_soon)
{
    quorum::fairness t;
    t.won(at_time(0ms), one_slot_time);
    t.released(at_time(10ms), limits, one_slot_time);
    BOOST_TEST(!t.is_over(at_time(11ms)));
    BOOST_TEST(t.is_over(at_time(100ms)));
    t.refused(at_time(100ms));
    t.won(at_time(110ms), one_slot_time);
    t.released(at_time(120ms), limits, one_slot_time);
    BOOST_TEST(!t.is_over(at_time(1s)));
    BOOST_TEST(t.is_over(at_time(1101ms)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
