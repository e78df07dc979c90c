#include "quorum_support.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <numeric>

namespace redlock::quorum {

namespace {

release_outcome expected_outcome(std::vector<vote> const& votes)
{
    auto const count = [&](vote v) { return static_cast<std::size_t>(std::count(votes.begin(), votes.end(), v)); };
    std::size_t const needed = votes.size() / 2 + 1;
    if (count(granted) >= needed) return release_outcome::released;
    return votes.size() - count(refused) < needed ? release_outcome::lost : release_outcome::no_majority;
}

// `pending`, which is never right, unless the outcome was announced exactly once.
release_outcome decide_in_order(std::vector<vote> const& votes, std::vector<std::size_t> const& order)
{
    release_machine machine{votes.size()};
    int announcements = 0;
    for (std::size_t node : order) announcements += machine.on_vote(node, votes[node]) != release_outcome::pending;
    return announcements == 1 && machine.complete() ? machine.outcome() : release_outcome::pending;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(release)

BOOST_AUTO_TEST_CASE(a_majority_of_deletions_releases_without_waiting_for_the_rest)
{
    release_machine machine{3};
    BOOST_TEST(machine.on_vote(0, granted) == release_outcome::pending);
    BOOST_TEST(machine.on_vote(2, granted) == release_outcome::released);
    BOOST_TEST(!machine.complete());
}

BOOST_AUTO_TEST_CASE(keys_that_were_already_gone_on_a_majority_mean_that_the_lease_was_lost)
{
    release_machine machine{3};
    machine.on_vote(0, granted);
    BOOST_TEST(machine.on_vote(1, refused) == release_outcome::pending);
    BOOST_TEST(machine.on_vote(2, refused) == release_outcome::lost);
}

BOOST_AUTO_TEST_CASE(a_lease_on_two_of_three_nodes_is_released_by_them)
{
    release_machine machine{3};
    machine.on_vote(2, refused);  // never granted there
    machine.on_vote(0, granted);
    BOOST_TEST(machine.on_vote(1, granted) == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(too_few_answers_leave_it_unknown)
{
    release_machine machine{3};
    machine.on_vote(0, granted);
    machine.on_vote(1, failed);
    BOOST_TEST(machine.on_vote(2, failed) == release_outcome::no_majority);
}

BOOST_AUTO_TEST_CASE(a_caller_does_not_wait_for_nodes_that_cannot_change_the_outcome)
{
    release_machine machine{5};
    machine.on_vote(0, failed);
    machine.on_vote(1, failed);
    BOOST_TEST(machine.on_vote(2, failed) == release_outcome::no_majority);
    BOOST_TEST(!machine.complete());
}

BOOST_AUTO_TEST_CASE(the_outcome_is_that_of_the_definition_in_every_order_for_every_ballot)
{
    for (std::size_t nodes = 1; nodes <= 5; ++nodes) {
        int wrong = 0;
        for_each_ballot(nodes, {granted, refused, failed}, [&](std::vector<vote> const& votes) {
            std::vector<std::size_t> order(nodes);
            std::iota(order.begin(), order.end(), std::size_t{0});
            do {
                wrong += decide_in_order(votes, order) != expected_outcome(votes);
            } while (std::next_permutation(order.begin(), order.end()));
        });
        BOOST_TEST(wrong == 0, wrong << " wrong outcomes with " << nodes << " nodes");
    }
}

BOOST_AUTO_TEST_CASE(at_the_timeout_the_caller_waits_no_longer_but_the_release_goes_on)
{
    release_machine machine{3};
    machine.on_vote(0, granted);
    BOOST_TEST(machine.on_timeout() == release_outcome::no_majority);
    BOOST_TEST(!machine.complete());
    BOOST_TEST(machine.on_vote(1, granted) == release_outcome::pending);
    BOOST_TEST(machine.on_vote(2, granted) == release_outcome::pending);
    BOOST_TEST(machine.complete());
    BOOST_TEST(machine.outcome() == release_outcome::no_majority);
}

BOOST_AUTO_TEST_CASE(a_timeout_after_the_decision_changes_nothing)
{
    release_machine machine{3};
    machine.on_vote(0, granted);
    machine.on_vote(1, granted);
    BOOST_TEST(machine.on_timeout() == release_outcome::pending);
    BOOST_TEST(machine.outcome() == release_outcome::released);
}

BOOST_AUTO_TEST_CASE(a_second_answer_of_one_node_is_not_a_second_vote)
{
    release_machine machine{3};
    machine.on_vote(0, granted);
    BOOST_TEST(machine.on_vote(0, granted) == release_outcome::pending);
    BOOST_TEST(machine.on_vote(0, refused) == release_outcome::pending);
    BOOST_TEST(!machine.complete());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
