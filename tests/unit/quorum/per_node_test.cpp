// Values by node: in place, or not.
#include "quorum/per_node.hpp"

#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <numeric>

namespace redlock::quorum {
namespace {

per_node<int> counted(std::size_t nodes)
{
    per_node<int> p{nodes};
    std::iota(p.begin(), p.end(), 1);
    return p;
}

bool is_counted(per_node<int> const& p, std::size_t nodes)
{
    if (p.size() != nodes) return false;
    for (std::size_t i = 0; i < nodes; ++i)
        if (p[i] != static_cast<int>(i) + 1) return false;
    return true;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(per_node_values)

BOOST_DATA_TEST_CASE(they_begin_as_said, boost::unit_test::data::xrange<std::size_t>(1, max_nodes + 1), nodes)
{
    per_node<std::chrono::nanoseconds> const nothing{nodes};
    per_node<int> const seven{nodes, 7};
    BOOST_TEST(std::count(seven.begin(), seven.end(), 7) == static_cast<std::ptrdiff_t>(nodes));
    for (auto each : nothing) BOOST_TEST(each.count() == 0);
}

BOOST_DATA_TEST_CASE(a_copy_is_its_own, boost::unit_test::data::xrange<std::size_t>(1, max_nodes + 1), nodes)
{
    auto const original = counted(nodes);
    auto copy = original;
    BOOST_TEST(is_counted(copy, nodes));
    copy.fill(0);
    BOOST_TEST(is_counted(original, nodes));
    BOOST_TEST(copy[nodes - 1] == 0);
}

BOOST_DATA_TEST_CASE(assignment_takes_the_size_with_it, boost::unit_test::data::xrange<std::size_t>(1, max_nodes + 1), nodes)
{
    for (std::size_t before = 1; before <= max_nodes; ++before) {
        per_node<int> p{before, -1};
        p = counted(nodes);
        BOOST_TEST(is_counted(p, nodes));
        auto const& itself = p;
        p = itself;
        BOOST_TEST(is_counted(p, nodes));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
