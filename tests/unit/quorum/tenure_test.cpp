#include "quorum_support.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <random>

namespace redlock::quorum {

namespace {

// The definition: sort all deadlines, take the M-th largest.
time_point mth_largest(std::vector<time_point> deadlines)
{
    std::sort(deadlines.begin(), deadlines.end(), std::greater<>{});
    return deadlines[deadlines.size() / 2];
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tenures)

BOOST_AUTO_TEST_CASE(nothing_is_held_before_a_majority_granted)
{
    tenure t{5};
    BOOST_TEST(ns{t.valid_until()} == ns{time_point{}});
    t.holds(0, start + 1s);
    t.holds(3, start + 1s);
    BOOST_TEST(ns{t.valid_until()} == ns{time_point{}});
    t.holds(4, start + 1s);
    BOOST_TEST(ns{t.valid_until()} == ns{start + 1s});
}

BOOST_AUTO_TEST_CASE(validity_ends_at_the_weakest_node_of_the_best_majority)
{
    tenure t{5};
    t.holds(0, start + 50ms);
    t.holds(1, start + 10ms);
    t.holds(2, start + 40ms);
    t.holds(3, start + 20ms);
    t.holds(4, start + 30ms);
    BOOST_TEST(ns{t.valid_until()} == ns{start + 30ms});
}

BOOST_AUTO_TEST_CASE(four_nodes_are_held_until_their_third_largest_deadline)
{
    tenure t{4};
    for (std::size_t node = 0; node < 4; ++node) t.holds(node, start + (node + 1) * 10ms);
    BOOST_TEST(ns{t.valid_until()} == ns{start + 20ms});
}

BOOST_AUTO_TEST_CASE(validity_is_the_mth_largest_of_any_mix_of_renewals)
{
    std::minstd_rand random{20240917};
    for (std::size_t nodes = 1; nodes <= 9; ++nodes) {
        tenure t{nodes};
        std::vector<time_point> deadlines(nodes);
        int wrong = 0;
        for (int step = 0; step < 5'000; ++step) {
            std::size_t const node = random() % nodes;
            if (random() % 5 == 0) {
                t.gone(node);
                deadlines[node] = time_point{};
            } else {
                time_point const until = start + std::chrono::milliseconds{random() % 50};
                t.holds(node, until);
                deadlines[node] = std::max(deadlines[node], until);
            }
            wrong += t.valid_until() != mth_largest(deadlines);
        }
        BOOST_TEST(wrong == 0, wrong << " wrong ends with " << nodes << " nodes");
    }
}

BOOST_AUTO_TEST_CASE(a_deadline_never_moves_back)
{
    tenure t{1};
    t.holds(0, start + 20ms);
    t.holds(0, start + 10ms);
    BOOST_TEST(ns{t.valid_until()} == ns{start + 20ms});
}

BOOST_AUTO_TEST_CASE(a_node_stops_counting_at_its_own_deadline)
{
    tenure t{3};
    t.holds(0, start + 10ms);
    t.holds(1, start + 20ms);
    BOOST_TEST(t.held_on(start) == 2u);
    BOOST_TEST(t.held_on(start + 10ms - 1ns) == 2u);
    BOOST_TEST(t.held_on(start + 10ms) == 1u);
    BOOST_TEST(t.held_on(start + 20ms) == 0u);
}

BOOST_AUTO_TEST_CASE(a_key_that_is_gone_takes_its_deadline_with_it)
{
    tenure t{3};
    for (std::size_t node = 0; node < 3; ++node) t.holds(node, start + 1s);
    t.gone(0);
    BOOST_TEST(t.held_on(start) == 2u);
    BOOST_TEST(ns{t.valid_until()} == ns{start + 1s});
    t.gone(1);
    BOOST_TEST(t.held_on(start) == 1u);
    BOOST_TEST(ns{t.valid_until()} == ns{time_point{}});
}

BOOST_AUTO_TEST_CASE(a_majority_is_gone_when_the_rest_is_none)
{
    for (std::size_t nodes = 1; nodes <= 9; ++nodes) {
        tenure t{nodes};
        for (std::size_t gone = 1; gone <= nodes; ++gone) {
            t.gone(gone - 1);
            BOOST_TEST(t.majority_gone() == (nodes - gone < nodes / 2 + 1));
        }
    }
}

BOOST_AUTO_TEST_CASE(a_node_that_holds_the_key_again_is_not_gone)
{
    tenure t{3};
    t.gone(0);
    t.gone(1);
    BOOST_TEST(t.majority_gone());
    t.holds(1, start + 1s);
    BOOST_TEST(!t.majority_gone());
}

BOOST_AUTO_TEST_CASE(a_node_that_never_granted_is_not_gone)
{
    BOOST_TEST(!tenure{1}.majority_gone());
    BOOST_TEST(!tenure{5}.majority_gone());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
