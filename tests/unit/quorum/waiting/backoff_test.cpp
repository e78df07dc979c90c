#include "quorum/waiting/backoff.hpp"
#include "unit/quorum/quorum_support.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <random>

namespace redlock::quorum {

namespace {

std::vector<duration> draw(std::size_t count, duration min, duration max, std::uint32_t seed)
{
    std::mt19937 random{seed};
    quorum::backoff delays{min, max};
    std::vector<duration> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(delays.next(random));
    return result;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(retry_delay)

BOOST_AUTO_TEST_CASE(ten_thousand_draws_stay_within_the_bounds)
{
    auto const delays = draw(10'000, 10ms, 1s, 1);
    BOOST_TEST(ns{*std::min_element(delays.begin(), delays.end())} >= ns{10ms});
    BOOST_TEST(ns{*std::max_element(delays.begin(), delays.end())} <= ns{1s});
}

BOOST_AUTO_TEST_CASE(each_delay_is_at_most_three_times_the_one_before)
{
    auto const delays = draw(10'000, 10ms, 1s, 2);
    int wrong = 0;
    for (std::size_t i = 1; i < delays.size(); ++i) wrong += delays[i] > 3 * delays[i - 1];
    BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(the_first_delay_is_short)
{
    for (std::uint32_t seed = 0; seed < 1'000; ++seed) {
        duration const first = draw(1, 10ms, 1s, seed).front();
        BOOST_REQUIRE(ns{first} >= ns{10ms});
        BOOST_REQUIRE(ns{first} <= ns{30ms});
    }
}

BOOST_AUTO_TEST_CASE(delays_use_their_whole_range)
{
    auto const delays = draw(10'000, 10ms, 1s, 3);
    BOOST_TEST(ns{*std::min_element(delays.begin(), delays.end())} < ns{15ms});
    BOOST_TEST(ns{*std::max_element(delays.begin(), delays.end())} > ns{950ms});
}

BOOST_AUTO_TEST_CASE(clients_with_different_seeds_do_not_meet_again)
{
    auto const one = draw(100, 10ms, 1s, 4);
    auto const other = draw(100, 10ms, 1s, 5);
    int meetings = 0;
    for (std::size_t i = 0; i < one.size(); ++i) meetings += one[i] == other[i];
    BOOST_TEST(meetings == 0);
}

BOOST_AUTO_TEST_CASE(the_same_seed_gives_the_same_delays) { BOOST_CHECK(draw(1'000, 10ms, 1s, 6) == draw(1'000, 10ms, 1s, 6)); }

BOOST_AUTO_TEST_CASE(equal_bounds_give_a_constant_delay)
{
    for (duration delay : draw(100, 25ms, 25ms, 7)) BOOST_TEST(ns{delay} == ns{25ms});
}

BOOST_AUTO_TEST_CASE(a_maximum_below_three_times_the_minimum_caps_the_first_delay)
{
    for (std::uint32_t seed = 0; seed < 1'000; ++seed) BOOST_REQUIRE(ns{draw(1, 10ms, 12ms, seed).front()} <= ns{12ms});
}

BOOST_AUTO_TEST_CASE(after_a_reset_delays_are_short_again)
{
    std::mt19937 random{8};
    quorum::backoff delays{10ms, 1s};
    for (int round = 0; round < 1'000; ++round) {
        for (int i = 0; i < 10; ++i) delays.next(random);
        delays.reset();
        BOOST_REQUIRE(ns{delays.next(random)} <= ns{30ms});
    }
}

BOOST_AUTO_TEST_CASE(the_longest_allowed_delay_does_not_overflow)
{
    for (duration delay : draw(1'000, 24h, 24h, 9)) BOOST_TEST(ns{delay} == ns{24h});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
