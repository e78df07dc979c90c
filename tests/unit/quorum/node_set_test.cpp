#include "quorum/node_set.hpp"

#include <boost/test/unit_test.hpp>

#include <random>
#include <set>

namespace redlock::quorum {

BOOST_AUTO_TEST_SUITE(node_sets)

BOOST_AUTO_TEST_CASE(a_new_one_is_empty)
{
    node_set const none;
    BOOST_TEST(none.size() == 0u);
    for (std::size_t node = 0; node < max_nodes; ++node) BOOST_TEST(!none.has(node));
}

BOOST_AUTO_TEST_CASE(nobody_is_in_it_twice)
{
    node_set nodes;
    nodes.add(2);
    nodes.add(2);
    BOOST_TEST(nodes.size() == 1u);
    nodes.remove(1);
    BOOST_TEST(nodes.size() == 1u);
    nodes.remove(2);
    nodes.remove(2);
    BOOST_TEST(nodes.size() == 0u);
    BOOST_TEST(!nodes.has(2));
}

BOOST_AUTO_TEST_CASE(agrees_with_a_set_of_numbers)
{
    std::minstd_rand random{3};
    node_set nodes;
    std::set<std::size_t> expected;
    for (int change = 0; change < 5'000; ++change) {
        std::size_t const node = random() % max_nodes;
        if (random() % 2 == 0) {
            nodes.add(node);
            expected.insert(node);
        } else {
            nodes.remove(node);
            expected.erase(node);
        }
        BOOST_REQUIRE(nodes.size() == expected.size());
        for (std::size_t each = 0; each < max_nodes; ++each) BOOST_REQUIRE(nodes.has(each) == expected.contains(each));
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
