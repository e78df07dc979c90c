// Clocks that drift, step, and are read over slow lines.
#include "quorum/clocks/clock_step_detector.hpp"

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <random>

namespace {

using namespace redlock::quorum;
using namespace std::chrono_literals;

time_point const epoch{1h};
constexpr wall_time year{std::chrono::days{365 * 56}};  // far from our own clock

// A node whose clock runs at a rate of its own.
struct node_clock {
    duration offset{};
    double rate{1.0};

    wall_time at(time_point t) const
    {
        auto const ran = std::chrono::duration<double, std::nano>{static_cast<double>((t - epoch).count()) * rate};
        return year + std::chrono::duration_cast<wall_time>(offset + std::chrono::duration_cast<duration>(ran));
    }
};

struct line {
    clock_step_detector track{0.01};
    node_clock node;
    time_point now{epoch};

    std::optional<clock_step> ask(duration there = 100us, duration back = 100us)
    {
        auto const sent = now;
        auto const read = node.at(now + there);
        now += there + back;
        return track.on_time(read, sent, now);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(clock_step_detectors)

BOOST_AUTO_TEST_CASE(the_first_answer_says_nothing)
{
    line l;
    l.node.offset = -20h;
    BOOST_TEST(!l.ask().has_value());
}

BOOST_AUTO_TEST_CASE(a_step_forward_is_seen_with_the_next_answer)
{
    line l;
    l.ask();
    l.now += 1s;
    l.node.offset += 40s;
    auto const step = l.ask();
    BOOST_REQUIRE(step.has_value());
    BOOST_TEST((step->at_most >= 40s));
    BOOST_TEST((step->at_most < 40s + 20ms));  // 1 % of a second, twice two directions
    l.now += 1s;
    BOOST_TEST(!l.ask().has_value());  // once
}

BOOST_AUTO_TEST_CASE(a_step_back_is_negative)
{
    line l;
    l.ask();
    l.now += 1s;
    l.node.offset -= 3s;
    auto const step = l.ask();
    BOOST_REQUIRE(step.has_value());
    BOOST_TEST((step->at_most <= -3s));
    BOOST_TEST((step->at_most > -3s - 20ms));
}

BOOST_AUTO_TEST_CASE(small_steps_are_seen_on_short_lines_and_not_on_long_ones)
{
    line near;
    near.ask();
    near.node.offset += 6ms;
    BOOST_TEST(near.ask().has_value());

    line far;
    far.ask(200ms, 200ms);
    far.node.offset += 6ms;
    BOOST_TEST(!far.ask(200ms, 200ms).has_value());
}

BOOST_AUTO_TEST_CASE(a_slow_answer_does_not_blur_what_is_known)
{
    line l;
    l.ask();
    l.now += 10ms;
    l.ask(300ms, 300ms);
    l.now += 10ms;
    l.node.offset += 50ms;
    BOOST_TEST(l.ask().has_value());
}

BOOST_AUTO_TEST_CASE(no_clock_within_drift_was_ever_set)
{
    std::mt19937_64 random{7};
    for (double const rate : {0.991, 0.9995, 1.0, 1.0005, 1.009}) {
        line l;
        l.node.rate = rate;
        for (int i = 0; i < 20'000; ++i) {
            l.now += duration{static_cast<long>(random() % 2'000'000'000)} / (i % 7 == 0 ? 1 : 1'000);
            duration const there{static_cast<long>(random() % (i % 5 == 0 ? 400'000'000 : 400'000))};
            duration const back{static_cast<long>(random() % (i % 3 == 0 ? 400'000'000 : 400'000))};
            BOOST_REQUIRE_MESSAGE(!l.ask(there, back).has_value(), "rate " << rate << ", answer " << i);
        }
    }
}

// chrony may slew by a twelfth, for a while.
BOOST_AUTO_TEST_CASE(a_clock_that_runs_away_is_seen_however_often_it_is_asked)
{
    for (duration const pause : {duration{1ms}, duration{50ms}, duration{1s}}) {
        line l;
        l.ask();
        l.node.rate = 1.083;
        bool seen = false;
        for (auto const end = l.now + 1s; l.now < end;) {
            l.now += pause;
            seen = l.ask().has_value() || seen;
        }
        BOOST_TEST(seen, "asked every " << pause.count() << " ns");
    }
}

BOOST_AUTO_TEST_CASE(many_small_steps_add_up)
{
    line l;
    l.ask();
    bool seen = false;
    for (int i = 0; i < 4 && !seen; ++i) {
        l.now += 10ms;
        l.node.offset += 2ms;
        seen = l.ask().has_value();
    }
    BOOST_TEST(seen);
}

// Requests overlap: the next is sent before the answer to the last has come.
BOOST_AUTO_TEST_CASE(pipelined_answers_are_fine)
{
    clock_step_detector track{0.01};
    node_clock const node{.offset = 5s};
    for (int i = 0; i < 1'000; ++i) {
        auto const sent = epoch + i * 1ms;
        BOOST_REQUIRE(!track.on_time(node.at(sent + 100ms), sent, sent + 180ms).has_value());
    }
}

// What waited for replicas is answered behind what was asked later.
BOOST_AUTO_TEST_CASE(older_readings_say_nothing)
{
    clock_step_detector track{0.01};
    node_clock node;
    auto const old = node.at(epoch);
    BOOST_TEST(!track.on_time(old, epoch, epoch + 1ms).has_value());
    node.offset += 40s;
    BOOST_TEST(track.on_time(node.at(epoch + 20ms), epoch + 20ms, epoch + 21ms).has_value());
    BOOST_TEST(!track.on_time(old, epoch + 10ms, epoch + 30ms).has_value());
    BOOST_TEST(!track.on_time(node.at(epoch + 40ms), epoch + 40ms, epoch + 41ms).has_value());
}

BOOST_AUTO_TEST_CASE(a_process_that_was_paused_blames_nobody)
{
    line l;
    l.ask();
    BOOST_TEST(!l.ask(100us, 40s).has_value());
    l.now += 5s;
    BOOST_TEST(!l.ask(40s, 100us).has_value());
}

BOOST_AUTO_TEST_SUITE_END()
