// Moments by node: as one would keep them in an array, in whatever order they are set.
#include "quorum/node_moments.hpp"

#include "quorum_support.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <functional>
#include <random>
#include <vector>

namespace redlock::quorum {

namespace {

bool are_the_same(node_moments const& p, std::vector<time_point> expected)
{
    if (p.size() != expected.size()) return false;
    for (std::size_t node = 0; node < p.size(); ++node)
        if (p[node] != expected[node]) return false;
    for (auto const limit : expected) {
        auto const later = std::count_if(expected.begin(), expected.end(), [&](time_point each) { return each > limit; });
        if (p.later_than(limit) != static_cast<std::size_t>(later)) return false;
    }
    std::sort(expected.begin(), expected.end(), std::greater<>{});
    for (std::size_t n = 1; n <= expected.size(); ++n)
        if (p.latest(n) != expected[n - 1]) return false;
    return p.latest(expected.size() + 1) == time_point{};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(moments_of_nodes)

BOOST_AUTO_TEST_CASE(they_begin_as_said)
{
    auto some = node_set::only(0);
    some.add(2);
    BOOST_TEST(are_the_same(node_moments{3}, std::vector<time_point>(3)));
    BOOST_TEST(are_the_same(node_moments{3, some, start}, {start, time_point{}, start}));
}

BOOST_DATA_TEST_CASE(they_are_what_was_set, boost::unit_test::data::xrange<std::size_t>(1, max_nodes + 1), nodes)
{
    // With two different ones nearly all are in place, with many nearly none, and with three they come and go.
    for (unsigned const different : {2u, 3u, 50u}) {
        std::minstd_rand random{20241126};
        node_moments p{nodes};
        std::vector<time_point> expected(nodes);
        int wrong = 0;
        for (int step = 0; step < 2'000; ++step) {
            std::size_t const node = random() % nodes;
            auto const at = random() % 5 == 0 ? time_point{} : start + std::chrono::milliseconds{random() % different};
            p.set(node, at);
            expected[node] = at;
            wrong += !are_the_same(p, expected);
        }
        BOOST_TEST(wrong == 0, wrong << " wrong with " << nodes << " nodes and " << different << " moments");
    }
}

BOOST_DATA_TEST_CASE(a_copy_is_its_own, boost::unit_test::data::xrange<std::size_t>(1, max_nodes + 1), nodes)
{
    node_moments original{nodes};
    std::vector<time_point> expected(nodes);
    for (std::size_t node = 0; node < nodes; ++node) original.set(node, expected[node] = start + node * 1ms);
    auto copy = original;
    BOOST_TEST(are_the_same(copy, expected));
    copy.set(0, start + 1h);
    BOOST_TEST(are_the_same(original, expected));
    for (std::size_t node = 0; node < nodes; ++node) copy.set(node, start);
    BOOST_TEST(are_the_same(copy, std::vector<time_point>(nodes, start)));
    copy = original;
    BOOST_TEST(are_the_same(copy, expected));
    auto const& itself = copy;
    copy = itself;
    BOOST_TEST(are_the_same(copy, expected));
    copy = node_moments{1};
    BOOST_TEST(are_the_same(copy, std::vector<time_point>(1)));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
