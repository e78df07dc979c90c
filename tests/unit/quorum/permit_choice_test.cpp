// Which slots an attempt goes for when nodes gave it different ones.
#include "quorum/permit_choice.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using namespace redlock::quorum;
using made = permit_choice::decision;

constexpr slot_set s0 = 1, s1 = 2, s2 = 4, s3 = 8;

}  // namespace

BOOST_AUTO_TEST_SUITE(permit_choice_suite)

BOOST_AUTO_TEST_CASE(a_majority_that_gave_the_same_is_enough)
{
    permit_choice c{3, 1, 4, 2};
    c.answered(0, s2, s0 | s1 | s3, 1);
    BOOST_TEST((c.decide() == made::open));
    c.answered(2, s2, 0, 1);
    BOOST_TEST((c.decide() == made::won));
    BOOST_TEST(c.chosen() == s2);
    BOOST_TEST(c.gave_chosen(0));
    BOOST_TEST(!c.gave_chosen(1));
    BOOST_TEST(!c.to_ask(1));
}

BOOST_AUTO_TEST_CASE(other_slots_count_as_free_if_a_majority_shows_them)
{
    permit_choice c{3, 1, 3, 0};
    c.answered(0, s0, s1, 1);
    c.answered(1, s0, s2, 1);
    BOOST_TEST((c.decide() == made::won));
    BOOST_TEST(!c.others_are_free());
    c.answered(2, s0, s1, 1);
    BOOST_TEST(c.others_are_free());
}

BOOST_AUTO_TEST_CASE(grants_of_different_slots_are_not_added_up)
{
    permit_choice c{3, 1, 3, 0};
    c.answered(0, s0, s2, 1);
    c.answered(1, s1, s2, 1);
    BOOST_TEST((c.decide() == made::open));  // the third can still make one of them the majority's
    c.answered(2, 0, 0, 1);
    BOOST_TEST((c.decide() == made::move));
    BOOST_TEST(c.chosen() == s2);  // free on two nodes, while s0 and s1 are taken on the other one each
    BOOST_TEST(c.to_ask(0));
    BOOST_TEST(c.to_ask(1));
    BOOST_TEST(!c.to_ask(2));
}

BOOST_AUTO_TEST_CASE(of_slots_that_as_many_nodes_could_give_the_one_that_more_have_given_is_chosen)
{
    permit_choice c{3, 1, 3, 0};
    c.answered(0, s1, s0 | s2, 1);
    c.answered(1, s2, s0 | s1, 1);
    c.answered(2, 0, s0 | s1, 1);
    BOOST_TEST((c.decide() == made::move));
    BOOST_TEST(c.chosen() == s1);
    BOOST_TEST(!c.to_ask(0));
    BOOST_TEST(c.to_ask(1));
    BOOST_TEST(c.to_ask(2));
}

BOOST_AUTO_TEST_CASE(the_search_begins_at_the_slot_that_the_attempt_prefers)
{
    permit_choice c{3, 1, 3, 1};
    for (std::size_t node = 0; node < 3; ++node) c.answered(node, 0, s0 | s1 | s2, 1);
    BOOST_TEST((c.decide() == made::move));
    BOOST_TEST(c.chosen() == s1);
}

BOOST_AUTO_TEST_CASE(a_slot_that_no_majority_could_give_is_hopeless)
{
    permit_choice c{3, 1, 2, 0};
    c.answered(0, s0, 0, 1);
    c.answered(1, s1, 0, 1);
    BOOST_TEST((c.decide() == made::open));
    c.failed(2);
    BOOST_TEST((c.decide() == made::hopeless));
}

BOOST_AUTO_TEST_CASE(who_has_not_answered_in_time_counts_no_more)
{
    permit_choice c{3, 1, 2, 0};
    c.answered(0, s0, 0, 1);
    c.answered(1, s1, s0, 1);
    BOOST_TEST((c.decide() == made::open));
    c.time_is_up();
    BOOST_TEST((c.decide() == made::move));
    BOOST_TEST(c.chosen() == s0);
    BOOST_TEST(!c.to_ask(2));
}

BOOST_AUTO_TEST_CASE(several_slots_are_moved_only_where_none_of_them_was_given)
{
    permit_choice c{3, 2, 4, 0};
    c.answered(0, s0 | s1, s2 | s3, 1);
    c.answered(1, s1 | s2, s0 | s3, 1);  // has s1 already, and would have to be asked for it again
    c.answered(2, 0, s3, 1);
    BOOST_TEST((c.decide() == made::hopeless));

    permit_choice apart{3, 2, 4, 0};
    apart.answered(0, s0 | s1, s2 | s3, 1);
    apart.answered(1, s2 | s3, s0 | s1, 1);
    apart.answered(2, 0, 0, 1);
    BOOST_TEST((apart.decide() == made::move));
    BOOST_TEST(apart.chosen() == (s0 | s1));
    BOOST_TEST(apart.to_ask(1));
}

BOOST_AUTO_TEST_CASE(the_number_with_the_largest_version_counts)
{
    permit_choice c{3, 1, 2, 0};
    c.answered(0, s0, s1, 1);
    c.differs(1, 2);
    BOOST_TEST(c.is_of_another_number());

    permit_choice newer{3, 1, 2, 0};
    newer.answered(0, s0, s1, 3);
    newer.differs(1, 2);
    BOOST_TEST(!newer.is_of_another_number());

    permit_choice both_first{3, 1, 2, 0};
    both_first.answered(0, s0, s1, 1);
    both_first.differs(1, 1);
    BOOST_TEST(both_first.is_of_another_number());
    both_first.answered(2, 0, 0, 1);
    BOOST_TEST(!both_first.is_of_another_number());  // all are busy: it is no other number that stands in the way

    // Whichever of them has answered first.
    permit_choice older_last{5, 1, 2, 0};
    older_last.answered(0, s0, s1, 3);
    for (std::size_t node = 1; node < 3; ++node) older_last.answered(node, s0, s1, 1);
    older_last.differs(3, 4);
    older_last.differs(4, 2);
    BOOST_TEST(older_last.is_of_another_number());
    older_last.answered(0, s0, s1, 4);
    older_last.answered(1, s0, s1, 1);
    BOOST_TEST(!older_last.is_of_another_number());

    permit_choice no_majority_left{3, 1, 2, 0};
    no_majority_left.answered(0, s0, s1, 1);
    for (std::size_t node = 1; node < 3; ++node) no_majority_left.differs(node, 2);
    BOOST_TEST((no_majority_left.decide() == made::hopeless));

    permit_choice none{3, 1, 2, 0};
    for (std::size_t node = 0; node < 3; ++node) none.failed(node);
    BOOST_TEST((none.decide() == made::hopeless));
    BOOST_TEST(!none.is_of_another_number());
}

BOOST_AUTO_TEST_SUITE_END()
