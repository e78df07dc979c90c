// How long the pauses between two connections are.
#include "node/connection/reconnect_pause.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace redlock::detail {

namespace {

using namespace std::chrono_literals;

config with_delays(std::chrono::milliseconds min, std::chrono::milliseconds max)
{
    config c;
    c.min_reconnect_delay = min;
    c.max_reconnect_delay = max;
    return c;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(reconnect_pause_tests)

BOOST_AUTO_TEST_CASE(it_is_short_again_after_a_server_was_usable)
{
    reconnect_pause pause{with_delays(50ms, 1h)};
    for (int i = 0; i < 100; ++i) pause.next();
    pause.usable_now();
    pause.reset();
    BOOST_TEST((pause.next() <= 150ms));
}

// So that a server that takes each connection and drops it is not connected to ten times a second.
BOOST_AUTO_TEST_CASE(it_grows_where_servers_are_usable_for_a_moment_again_and_again)
{
    reconnect_pause pause{with_delays(50ms, 2s)};
    std::chrono::nanoseconds sum{};
    for (int i = 0; i < 60; ++i) {
        pause.usable_now();
        pause.reset();
        sum += pause.next();
    }
    BOOST_TEST((sum > 60 * 150ms));
}

BOOST_AUTO_TEST_CASE(it_is_short_again_after_a_long_use)
{
    reconnect_pause pause{with_delays(1ms, 1ms)};
    for (int i = 0; i < 10; ++i) {
        pause.usable_now();
        pause.reset();
        pause.next();
    }
    pause.usable_now();
    auto const end = std::chrono::steady_clock::now() + 2ms;
    while (std::chrono::steady_clock::now() < end) {}
    BOOST_TEST(pause.was_used_long());
    pause.reset();
    BOOST_TEST((pause.next() <= 1ms));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
