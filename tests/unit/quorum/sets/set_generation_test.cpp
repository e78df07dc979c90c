// Into which generation of its set a client follows.
#include "quorum/sets/set_generation.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace redlock::quorum {
namespace {

set_record const three{"s", 0, 0, true, 0, 0, {}, {"A", "B", "C"}};

// `records`: what the nodes of the list carry.
set_record choice(set_generation& of, std::vector<set_record> const& records)
{
    std::vector<set_record const*> carried;
    for (auto const& r : records) carried.push_back(&r);
    return of.choose(records.front(), carried);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(generations_of_a_set)

BOOST_AUTO_TEST_CASE(a_majority_of_the_generation_before_is_followed)
{
    auto const replaced = with_member_replaced(three, "C", "D");
    set_generation g;
    BOOST_TEST(choice(g, {three}).generation == 0u);
    BOOST_TEST(!g.is_settled(), "one of three");
    BOOST_TEST(choice(g, {three, three, three}).generation == 0u);
    BOOST_TEST(g.is_settled());
    auto const era = g.era();
    BOOST_TEST(choice(g, {replaced, three, three}).generation == 0u);
    BOOST_TEST(g.era() == era);
    BOOST_TEST(choice(g, {replaced, replaced, three}).generation == 1u);
    BOOST_TEST(g.era() == era + 1);
    BOOST_TEST(choice(g, {three, three, three}).generation == 1u, "never back");
    BOOST_TEST(g.era() == era + 1);
}

BOOST_AUTO_TEST_CASE(the_number_of_before_decides)
{
    auto const seven = with_members_added(with_members_added(three, {"D", "E"}), {"F", "G"});
    BOOST_TEST(seven.size_before() == 5u);
    set_generation g;
    choice(g, {seven, seven});
    BOOST_TEST(!g.is_settled(), "two of five");
    auto const now = choice(g, {seven, seven, seven});
    BOOST_TEST(g.is_settled());
    BOOST_TEST(now.counts.moved, "it may tell others");
}

BOOST_AUTO_TEST_CASE(one_node_that_has_seen_it_is_enough)
{
    auto four = with_members_added(three, {"D"});
    auto shrunk = with_member_removed(four, "D");
    set_generation g;
    BOOST_TEST(choice(g, {four, shrunk, shrunk}).generation == 2u, "most carry it");
    BOOST_TEST(!g.is_settled(), "two of four have moved");
    shrunk.counts.moved = true;
    BOOST_TEST(choice(g, {four, shrunk, four}).generation == 2u);
    BOOST_TEST(g.is_settled());
}

// The text of the member that leaves is not given to others.
BOOST_AUTO_TEST_CASE(the_member_that_left_counts_and_is_not_copied)
{
    auto const four = with_members_added(three, {"D"});
    auto const stays = with_member_removed(four, "D");
    auto leaves = stays;
    leaves.counts.is_of_leaver = true;
    set_generation g;
    auto const now = choice(g, {leaves, stays, stays, four});
    BOOST_TEST(g.is_settled());
    BOOST_TEST(!now.counts.is_of_leaver);
    BOOST_TEST(now.counts.moved);
}

BOOST_AUTO_TEST_CASE(another_set_begins_anew)
{
    auto other = three;
    other.id = "t";
    set_generation g;
    choice(g, {three, three});
    auto const era = g.era();
    BOOST_TEST(choice(g, {other}).id == "t");
    BOOST_TEST(!g.is_settled());
    BOOST_TEST(g.era() == era, "neither was ever changed, so votes of both are of the same nodes");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
