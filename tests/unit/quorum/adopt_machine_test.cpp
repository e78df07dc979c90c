#include "quorum/adopt_machine.hpp"

#include "quorum_support.hpp"

#include <boost/test/unit_test.hpp>

namespace redlock::quorum {

std::ostream& boost_test_print_type(std::ostream& out, adopt_outcome o) { return print_named(out, o, {"pending", "adopted", "over"}); }

namespace {

timing const adopt_times = make_timing(ten_seconds());

struct three {
    adopt_machine machine{3, adopt_times};

    adopt_outcome vote_of(std::size_t node, vote v, time_point sent = start, std::uint64_t admission = 0)
    {
        return machine.on_vote(node, v, admission, sent, sent + 1ms);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(adopt)

BOOST_FIXTURE_TEST_CASE(a_majority_makes_it_and_the_validity_counts_from_the_sending, three)
{
    BOOST_TEST(vote_of(0, granted) == adopt_outcome::pending);
    BOOST_TEST(vote_of(2, granted) == adopt_outcome::adopted);
    BOOST_TEST(ns{machine.holders().valid_until()} == ns{start + ten_seconds_validity});
}

BOOST_FIXTURE_TEST_CASE(one_node_is_not_a_majority_however_often_it_answers, three)
{
    for (int round = 0; round < 5; ++round) BOOST_TEST(vote_of(0, granted, start + round * 1s) == adopt_outcome::pending);
}

BOOST_FIXTURE_TEST_CASE(so_many_refusals_that_no_majority_is_left_end_it, three)
{
    BOOST_TEST(vote_of(0, refused) == adopt_outcome::pending);
    BOOST_TEST(vote_of(1, granted) == adopt_outcome::pending);
    BOOST_TEST(vote_of(2, refused) == adopt_outcome::over);
    BOOST_TEST((machine.refused().has(0) && !machine.refused().has(1) && machine.refused().has(2)));
}

BOOST_FIXTURE_TEST_CASE(what_could_not_be_known_leaves_it_open, three)
{
    BOOST_TEST(vote_of(0, failed) == adopt_outcome::pending);
    BOOST_TEST(vote_of(1, failed) == adopt_outcome::pending);
    BOOST_TEST(vote_of(2, granted) == adopt_outcome::pending);
    BOOST_TEST(vote_of(1, granted, start + 2s) == adopt_outcome::adopted);
    BOOST_TEST(ns{machine.holders().valid_until()} == ns{start + ten_seconds_validity}, "the M-th largest: node 2's first round");
}

BOOST_FIXTURE_TEST_CASE(votes_of_rounds_that_are_too_far_apart_are_no_majority, three)
{
    BOOST_TEST(vote_of(0, granted) == adopt_outcome::pending);
    // Validity of the first ends at 9.998 s, and one second before that it would be given up.
    BOOST_TEST(vote_of(1, granted, start + 9s) == adopt_outcome::pending);
    BOOST_TEST(vote_of(0, granted, start + 9s) == adopt_outcome::adopted);
}

BOOST_FIXTURE_TEST_CASE(a_node_counts_as_one_server_only, three)
{
    BOOST_TEST(vote_of(0, granted, start, 1) == adopt_outcome::pending);
    BOOST_TEST(vote_of(0, granted, start + 9s, 2) == adopt_outcome::pending);
    // If the answer of another server had renewed the vote, this would be a majority until 18 s.
    BOOST_TEST(vote_of(1, granted, start + 9s, 1) == adopt_outcome::pending);
}

BOOST_AUTO_TEST_CASE(two_of_four_are_no_majority)
{
    adopt_machine machine{4, adopt_times};
    BOOST_TEST(machine.on_vote(0, granted, 0, start, start) == adopt_outcome::pending);
    BOOST_TEST(machine.on_vote(1, granted, 0, start, start) == adopt_outcome::pending);
    BOOST_TEST(machine.on_vote(2, refused, 0, start, start) == adopt_outcome::pending);
    BOOST_TEST(machine.on_vote(3, refused, 0, start, start) == adopt_outcome::over);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
