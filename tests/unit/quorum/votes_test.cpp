#include "quorum_support.hpp"

#include <boost/test/unit_test.hpp>

#include <set>

namespace redlock::quorum {

namespace {

enum class verdict { granted, excluded, undecidable };

// The definition, on a ballot on which everybody voted.
verdict final_verdict(std::size_t nodes, std::size_t grants, std::size_t refusals)
{
    if (grants >= nodes / 2 + 1) return verdict::granted;
    if (refusals > nodes - (nodes / 2 + 1)) return verdict::excluded;
    return verdict::undecidable;
}

// Every verdict that the votes that are still out could lead to.
std::set<verdict> possible_verdicts(std::size_t nodes, std::size_t grants, std::size_t refusals, std::size_t pending)
{
    std::set<verdict> possible;
    for (std::size_t more_grants = 0; more_grants <= pending; ++more_grants)
        for (std::size_t more_refusals = 0; more_grants + more_refusals <= pending; ++more_refusals)
            possible.insert(final_verdict(nodes, grants + more_grants, refusals + more_refusals));
    return possible;
}

std::set<verdict> verdicts_of(ballot const& b)
{
    std::set<verdict> result;
    if (b.majority_granted()) result.insert(verdict::granted);
    if (b.majority_excluded()) result.insert(verdict::excluded);
    if (b.majority_undecidable()) result.insert(verdict::undecidable);
    return result;
}

ballot cast_all(std::vector<vote> const& votes)
{
    ballot b{votes.size()};
    for (std::size_t node = 0; node < votes.size(); ++node)
        if (votes[node] != vote::pending) b.cast(node, votes[node]);
    return b;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(votes)

BOOST_AUTO_TEST_CASE(a_majority_is_more_than_half)
{
    std::size_t const expected[] = {1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8};
    static_assert(std::size(expected) == max_nodes);
    for (std::size_t nodes = 1; nodes <= max_nodes; ++nodes) BOOST_TEST(majority(nodes) == expected[nodes - 1]);
}

BOOST_AUTO_TEST_CASE(two_majorities_share_a_node_and_nothing_smaller_does)
{
    for (std::size_t nodes = 1; nodes <= max_nodes; ++nodes) {
        BOOST_TEST(2 * majority(nodes) > nodes);
        BOOST_TEST(2 * (majority(nodes) - 1) <= nodes);
    }
}

BOOST_AUTO_TEST_CASE(half_of_four_nodes_is_not_enough)
{
    BOOST_TEST(!cast_all({granted, granted, refused, refused}).majority_granted());
    BOOST_TEST(cast_all({granted, granted, granted, refused}).majority_granted());
}

BOOST_AUTO_TEST_CASE(a_new_ballot_is_open)
{
    for (std::size_t nodes = 1; nodes <= max_nodes; ++nodes) {
        ballot const b{nodes};
        BOOST_TEST(b.pending() == nodes);
        BOOST_TEST(verdicts_of(b).empty());
        for (std::size_t node = 0; node < nodes; ++node) BOOST_TEST(b.of(node) == vote::pending);
    }
}

BOOST_AUTO_TEST_CASE(votes_are_counted_by_kind)
{
    ballot const b = cast_all({granted, refused, failed, granted, vote::pending});
    BOOST_TEST(b.granted() == 2u);
    BOOST_TEST(b.refused() == 1u);
    BOOST_TEST(b.failed() == 1u);
    BOOST_TEST(b.pending() == 1u);
    BOOST_TEST(b.of(0) == granted);
    BOOST_TEST(b.of(1) == refused);
    BOOST_TEST(b.of(2) == failed);
    BOOST_TEST(b.of(4) == vote::pending);
}

BOOST_AUTO_TEST_CASE(the_first_vote_of_a_node_stands)
{
    for (vote first : {granted, refused, failed}) {
        for (vote second : {granted, refused, failed}) {
            ballot b{3};
            BOOST_TEST(b.cast(1, first));
            BOOST_TEST(!b.cast(1, second));
            BOOST_TEST(b.of(1) == first);
            BOOST_TEST(b.pending() == 2u);
        }
    }
}

BOOST_AUTO_TEST_CASE(the_largest_number_of_nodes_fits)
{
    ballot b{max_nodes};
    for (std::size_t node = 0; node < max_nodes; ++node) BOOST_TEST(b.cast(node, granted));
    BOOST_TEST(b.granted() == max_nodes);
    BOOST_TEST(b.pending() == 0u);
}

BOOST_AUTO_TEST_CASE(every_complete_ballot_has_exactly_the_verdict_of_the_definition)
{
    for (std::size_t nodes = 1; nodes <= 9; ++nodes) {
        std::size_t ballots = 0;
        int wrong = 0;
        for_each_ballot(nodes, {granted, refused, failed}, [&](std::vector<vote> const& votes) {
            ballot const b = cast_all(votes);
            std::set<verdict> const expected{final_verdict(nodes, b.granted(), b.refused())};
            wrong += verdicts_of(b) != expected;
            ++ballots;
        });
        BOOST_TEST(wrong == 0, wrong << " wrong verdicts with " << nodes << " nodes");
        std::size_t all = 1;
        for (std::size_t i = 0; i < nodes; ++i) all *= 3;
        BOOST_TEST(ballots == all);
    }
}

BOOST_AUTO_TEST_CASE(a_ballot_is_decided_exactly_when_no_later_vote_can_change_the_verdict)
{
    for (std::size_t nodes = 1; nodes <= 8; ++nodes) {
        int wrong = 0;
        for_each_ballot(nodes, {vote::pending, granted, refused, failed}, [&](std::vector<vote> const& votes) {
            ballot const b = cast_all(votes);
            auto const possible = possible_verdicts(nodes, b.granted(), b.refused(), b.pending());
            auto const expected = possible.size() == 1 ? possible : std::set<verdict>{};
            wrong += verdicts_of(b) != expected;
        });
        BOOST_TEST(wrong == 0, wrong << " wrong verdicts with " << nodes << " nodes");
    }
}

BOOST_AUTO_TEST_CASE(a_failed_node_heard_of_first_does_not_hide_that_the_lock_is_taken)
{
    ballot b{3};
    b.cast(0, failed);
    b.cast(1, refused);
    BOOST_TEST(verdicts_of(b).empty());
    b.cast(2, refused);
    BOOST_TEST(b.majority_excluded());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
