// What a client makes of a node's clock that is set.
#include "quorum/clocks/node_clock.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace redlock::detail {
namespace {

using namespace std::chrono_literals;

constexpr duration lasts = 10min;

struct watched_clock {
    node_clock clock{0.01};
    duration ahead{};

    // The node says what its clock shows, `t` after the begin.
    void tells(duration t)
    {
        time_point const sent{1h + t};
        clock.on_time(std::chrono::duration_cast<quorum::wall_time>(1000h + t + ahead), sent, sent + 1ms, lasts);
    }

    void is_set(duration by, duration t)
    {
        ahead += by;
        tells(t);
    }
};

time_point at(duration t) { return time_point{1h + t}; }

}  // namespace

BOOST_AUTO_TEST_SUITE(clock_of_a_node)

BOOST_AUTO_TEST_CASE(it_is_suspended_while_a_lease_of_before_can_last)
{
    watched_clock w;
    w.tells(0s);
    BOOST_TEST(!w.clock.is_suspended(at(1s)));
    w.is_set(20s, 10s);
    BOOST_TEST(w.clock.is_suspended(at(9min)));
    BOOST_TEST(!w.clock.is_suspended(at(11min)));
    BOOST_TEST(w.clock.was_set_since(at(5s)));
    BOOST_TEST(!w.clock.was_set_since(at(11s)));
}

// A request that was sent before both may still be under way. What is known of a step is inexact by the drift since the clock was read before it.
BOOST_AUTO_TEST_CASE(steps_add_up_while_it_is_suspended)
{
    watched_clock w;
    w.tells(0s);
    w.is_set(20s, 10s);
    w.is_set(30s, 5min);
    BOOST_TEST((w.clock.set_forward_since(at(5s)) >= 50s));
    BOOST_TEST((w.clock.set_forward_since(at(5s)) < 54s));
    BOOST_TEST(w.clock.steps() == 2u);
    w.is_set(40s, 20min);
    BOOST_TEST((w.clock.set_forward_since(at(19min)) < 50s), "the others were too long ago");
    BOOST_TEST((w.clock.set_forward_since(at(21min)) == duration::zero()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
