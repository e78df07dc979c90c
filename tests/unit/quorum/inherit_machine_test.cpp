// What a lease inherits, from what the nodes answer.
#include "quorum/inherit_machine.hpp"

#include <boost/test/unit_test.hpp>

namespace {

using namespace redlock;
using quorum::inherit_machine;
using quorum::inherit_outcome;
using quorum::state_stamp;

constexpr state_stamp none{}, old{7, 2}, newer{7, 3}, of_the_next{8, 1};

}  // namespace

BOOST_AUTO_TEST_SUITE(inherit_machine)

BOOST_AUTO_TEST_CASE(stamps_are_ordered_by_rank_and_then_by_number)
{
    BOOST_TEST((none < old && old < newer && newer < of_the_next));
    BOOST_TEST(none.is_none());
    BOOST_TEST(!old.is_none());
}

BOOST_AUTO_TEST_CASE(nothing_was_published)
{
    quorum::inherit_machine m{3};
    BOOST_CHECK(m.on_answer(0, vote::granted, none) == inherit_outcome::pending);
    BOOST_CHECK(m.on_answer(1, vote::granted, none) == inherit_outcome::known);
    BOOST_TEST(m.newest().is_none());
}

BOOST_AUTO_TEST_CASE(a_majority_has_the_newest)
{
    quorum::inherit_machine m{3};
    BOOST_CHECK(m.on_answer(2, vote::granted, newer) == inherit_outcome::pending);
    BOOST_CHECK(m.on_answer(1, vote::granted, newer) == inherit_outcome::known);
    BOOST_CHECK(m.newest() == newer);
    BOOST_TEST(m.holders().size() == 2u);
}

BOOST_AUTO_TEST_CASE(fewer_have_it)
{
    quorum::inherit_machine m{5};
    BOOST_CHECK(m.on_answer(0, vote::granted, old) == inherit_outcome::pending);
    BOOST_CHECK(m.on_answer(1, vote::granted, of_the_next) == inherit_outcome::pending);
    BOOST_CHECK(m.on_answer(2, vote::granted, old) == inherit_outcome::to_be_written_back);
    BOOST_CHECK(m.newest() == of_the_next);
    BOOST_TEST((m.holders().size() == 1 && m.holders().has(1)));
    BOOST_CHECK(m.on_answer(3, vote::granted, {9, 1}) == inherit_outcome::pending);
    BOOST_CHECK(m.newest() == of_the_next);
}

BOOST_AUTO_TEST_CASE(too_few_answer)
{
    quorum::inherit_machine m{3};
    BOOST_CHECK(m.on_answer(0, vote::refused, newer) == inherit_outcome::pending);
    BOOST_CHECK(m.on_answer(0, vote::granted, newer) == inherit_outcome::pending);
    BOOST_CHECK(m.on_answer(1, vote::failed, {}) == inherit_outcome::no_majority);
    quorum::inherit_machine late{3};
    BOOST_CHECK(late.on_answer(0, vote::granted, newer) == inherit_outcome::pending);
    BOOST_CHECK(late.give_up() == inherit_outcome::no_majority);
    BOOST_CHECK(late.on_answer(1, vote::granted, newer) == inherit_outcome::pending);
}

BOOST_AUTO_TEST_SUITE_END()
