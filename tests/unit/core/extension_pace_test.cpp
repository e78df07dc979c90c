#include "core/extension_pace.hpp"

#include <boost/test/unit_test.hpp>

#include <chrono>

namespace {

using namespace std::chrono_literals;
using redlock::detail::extension_pace;

constexpr auto pace_ttl = 16s;  // a second is good time

}  // namespace

BOOST_AUTO_TEST_SUITE(extension_pace_tests)

BOOST_AUTO_TEST_CASE(no_more_are_under_way_than_are_answered_in_good_time)
{
    extension_pace pace;
    BOOST_TEST(pace.window() == extension_pace::first);
    pace.on_answer(100, 1ms, pace_ttl);
    BOOST_TEST(pace.window() == extension_pace::most);
    pace.on_answer(4'000, 2s, pace_ttl);
    BOOST_TEST(pace.window() == 2'000u);
    pace.on_answer(2'000, 4s, pace_ttl);
    BOOST_TEST(pace.window() == 500u);
    for (int i = 0; i < 20; ++i) pace.on_answer(pace.window(), 1s * pace.window() / 100, pace_ttl);  // a hundred a second
    BOOST_TEST(pace.window() >= 50u);
    BOOST_TEST(pace.window() <= 200u);
}

BOOST_AUTO_TEST_CASE(a_single_answer_that_was_late_does_not_close_it_for_long)
{
    extension_pace pace;
    pace.on_answer(1, 1ms, pace_ttl);
    pace.on_answer(1, 3s, pace_ttl);
    BOOST_TEST(pace.window() >= extension_pace::least);
    pace.on_answer(extension_pace::least, 2ms, pace_ttl);
    BOOST_TEST(pace.window() == extension_pace::most);
}

BOOST_AUTO_TEST_CASE(far_away_is_not_slow)
{
    extension_pace pace;
    for (int i = 0; i < 20; ++i) pace.on_answer(pace.window(), 100ms, 1s);  // the same with any number
    BOOST_TEST(pace.window() >= extension_pace::first);
}

// What was seen of it while it was near, or fast, does not count for ever.
BOOST_AUTO_TEST_CASE(nor_is_what_is_farther_away_than_before)
{
    extension_pace pace;
    pace.on_answer(1, 1ms, 1s);
    for (int i = 0; i < 40; ++i) pace.on_answer(pace.window(), 100ms, 1s);
    BOOST_TEST(pace.window() >= extension_pace::first);
}

BOOST_AUTO_TEST_SUITE_END()
