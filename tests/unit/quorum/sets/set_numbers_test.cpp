// Votes, leases and the record of a set that has another number of members than a client's list.
#include "quorum/acquire_machine.hpp"
#include "quorum/adopt_machine.hpp"
#include "quorum/sets/set_record.hpp"
#include "quorum/tenure.hpp"
#include "quorum/votes.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace redlock::quorum {
namespace {

using namespace std::chrono_literals;

time_point after(std::chrono::milliseconds t) { return time_point{t + 1h}; }

timing timing_of_ten_seconds()
{
    timing t{};
    t.ttl = 10s;
    t.validity = 10s;
    t.node_timeout = 1s;
    return t;
}

set_record const of_three{"s", 0, 0, true, 0, 0, {}, {"A", "B", "C"}};

}  // namespace

BOOST_AUTO_TEST_SUITE(numbers_of_members)

BOOST_AUTO_TEST_CASE(votes_are_counted_by_the_size_of_the_set)
{
    ballot short_list{electorate{3, 3, 3}};
    short_list.cast(0, vote::granted);
    short_list.cast(1, vote::granted);
    BOOST_TEST(!short_list.majority_granted());
    BOOST_TEST(!short_list.majority_out_of_reach());
    short_list.cast(2, vote::failed);
    BOOST_TEST(short_list.majority_out_of_reach());
    BOOST_TEST(short_list.majority_undecidable());
    ballot of_four{electorate{4, 3, 2}};
    of_four.cast(0, vote::granted);
    of_four.cast(3, vote::granted);
    BOOST_TEST(of_four.majority_granted());
}

BOOST_AUTO_TEST_CASE(members_that_left_do_not_keep_a_refusal_open)
{
    ballot b{electorate{5, 3, 2}};
    b.cast(0, vote::refused);
    b.cast(1, vote::refused);
    BOOST_TEST(b.majority_excluded(), "one member is left of three");
    ballot nothing{electorate{3, 3, 4}};
    BOOST_TEST(!nothing.majority_excluded(), "nobody has refused");
    for (std::size_t i = 0; i < 3; ++i) {
        BOOST_TEST(!nothing.majority_out_of_reach(), "the next vote may come when more is known");
        nothing.cast(i, vote::failed);
    }
    BOOST_TEST(nothing.majority_out_of_reach());
    BOOST_TEST(nothing.majority_undecidable());
    BOOST_TEST(leaves_no_majority(electorate{5, 3, 2}, 4));
    BOOST_TEST(!leaves_no_majority(electorate{5, 3, 2}, 3));
    BOOST_TEST(!leaves_no_majority(electorate{3, 3, 4}, 1), "nothing is decided by votes");
    BOOST_TEST(leaves_no_majority(electorate{3, 3, 4}, 2));
}

BOOST_AUTO_TEST_CASE(a_lease_stands_on_as_many_nodes_as_the_set_asks_for)
{
    tenure t{3};
    t.holds(0, after(10ms));
    t.holds(1, after(20ms));
    BOOST_TEST((t.valid_until() == after(10ms)));
    t.set_electorate({3, 3, 3});
    BOOST_TEST((t.valid_until() == after(10ms)), "what it had");
    t.holds(0, after(40ms));
    t.holds(1, after(40ms));
    BOOST_TEST((t.valid_until() == after(10ms)), "by those that count now it is none");
    t.holds(2, after(30ms));
    BOOST_TEST((t.valid_until() == after(30ms)));
    t.set_electorate({3, 1, 1});
    BOOST_TEST((t.valid_until() == after(40ms)));
    BOOST_TEST(!t.majority_gone());
    t.gone(0);
    BOOST_TEST(t.majority_gone(), "the only member");
    node_set members;
    members.add(1);
    members.add(2);
    t.set_members(members);
    BOOST_TEST(!t.majority_gone(), "it was none");
    t.set_electorate({3, 3, 4});
    BOOST_TEST((t.valid_until() == after(40ms)));
    BOOST_TEST(!t.majority_gone());
}

BOOST_AUTO_TEST_CASE(a_lease_without_the_larger_majority_goes_on_until_its_end_or_until_a_node_lost_its_key)
{
    tenure t{3};
    t.holds(0, after(10ms));
    t.holds(1, after(10ms));
    BOOST_TEST(t.former_majority() == 0u);
    t.set_electorate({3, 3, 3});
    BOOST_TEST(t.former_majority() == 2u);
    t.holds(2, after(5ms));
    t.gone(2);
    BOOST_TEST((t.valid_until() == after(10ms)), "the lease does not stand on it");
    BOOST_TEST(!t.majority_gone());
    auto whole = t;
    for (std::size_t node : {0u, 1u, 2u}) whole.holds(node, after(10ms));
    BOOST_TEST(whole.former_majority() == 0u);
    auto left = t;
    node_set members;
    members.add(1);
    members.add(2);
    left.set_members(members);
    BOOST_TEST(left.former_majority() == 0u, "who is no member cannot confirm anything");
    t.holds(0, after(20ms));
    t.set_electorate({3, 3, 4});
    t.set_electorate({3, 3, 3});
    BOOST_TEST((t.valid_until() == after(10ms)), "however often the set changes");
    t.stepped(0, 5ms);
    BOOST_TEST((t.valid_until() == after(10ms)), "what is left there is enough");
    auto stepped = t;
    stepped.stepped(1, 1ms);
    BOOST_TEST((stepped.valid_until() == time_point{}));
    t.gone(1);
    BOOST_TEST((t.valid_until() == time_point{}));
    BOOST_TEST(t.majority_gone());
}

// However often that is told.
BOOST_AUTO_TEST_CASE(what_a_member_that_left_grants_or_refuses_is_counted_once)
{
    tenure t{5};
    for (std::size_t node : {0u, 1u, 4u}) t.holds(node, after(10ms));
    node_set members = node_set::all(5);
    members.remove(4);
    for (int told = 0; told < 40; ++told) t.set_members(members);
    t.set_electorate({5, 4, 3});
    BOOST_TEST((t.valid_until() == after(10ms)));
    t.gone(2);
    t.gone(3);
    BOOST_TEST(!t.majority_gone(), "two members and the one that left still have it");
    t.gone(4);
    BOOST_TEST(t.majority_gone());
    t.set_members(node_set::all(5));
    t.set_electorate({5, 5, 3});
    BOOST_TEST(!t.majority_gone(), "it may have it again");

    tenure of_all{5};
    for (std::size_t node = 0; node < 5; ++node) of_all.holds(node, after(10ms));
    of_all.set_members(members);
    BOOST_TEST(of_all.held_on(after(5ms)) == 5u);
    BOOST_TEST(of_all.members_that_hold(after(5ms)) == 4u);
    BOOST_TEST(of_all.members_that_hold(after(15ms)) == 0u);
    of_all.set_members(node_set::all(5));
    BOOST_TEST(of_all.members_that_hold(after(5ms)) == 5u, "it came back");

    tenure of_others{5};
    for (std::size_t node : {0u, 1u, 2u}) of_others.holds(node, after(10ms));
    of_others.set_members(members);
    of_others.set_electorate({5, 4, 3});
    of_others.gone(3);
    of_others.gone(4);
    BOOST_TEST(!of_others.majority_gone(), "what was refused there says nothing");
}

BOOST_AUTO_TEST_CASE(an_attempt_learns_of_a_smaller_majority_while_nobody_has_granted_or_it_is_undecided)
{
    timing const t = timing_of_ten_seconds();
    auto const vote_of = [&](acquire_machine& m, std::size_t node, vote v) { return m.on_vote(node, v, after(1ms)); };
    acquire_machine learns{electorate{5}, after(0ms), t};
    for (std::size_t node : {3u, 4u}) BOOST_CHECK(vote_of(learns, node, vote::failed) == acquire_outcome::pending);
    learns.set_electorate({5, 3, 2}, node_set::all(3));
    BOOST_CHECK(vote_of(learns, 0, vote::refused) == acquire_outcome::pending);
    BOOST_CHECK(vote_of(learns, 1, vote::refused) == acquire_outcome::contended);

    acquire_machine granted{electorate{5}, after(0ms), t};
    BOOST_CHECK(vote_of(granted, 0, vote::granted) == acquire_outcome::pending);
    granted.set_electorate({5, 3, 2}, node_set::all(3));
    BOOST_CHECK(vote_of(granted, 1, vote::granted) == acquire_outcome::pending);
    BOOST_CHECK(vote_of(granted, 2, vote::granted) == acquire_outcome::granted);

    acquire_machine given_up{electorate{5}, after(0ms), t};
    BOOST_CHECK(vote_of(given_up, 2, vote::refused) == acquire_outcome::pending);
    for (std::size_t node : {3u, 4u}) BOOST_CHECK(vote_of(given_up, node, vote::failed) == acquire_outcome::pending);
    BOOST_TEST(given_up.votes().majority_out_of_reach());
    given_up.set_electorate({5, 3, 2}, node_set::all(3));
    for (std::size_t node : {0u, 1u}) BOOST_CHECK(vote_of(given_up, node, vote::granted) != acquire_outcome::granted);

    acquire_machine given_up_before{electorate{4}, after(0ms), t};
    BOOST_CHECK(vote_of(given_up_before, 0, vote::refused) == acquire_outcome::pending);
    vote_of(given_up_before, 1, vote::failed);
    BOOST_TEST(given_up_before.votes().majority_out_of_reach());
    given_up_before.set_electorate({4, 4, 5}, node_set::all(4));
    BOOST_CHECK(vote_of(given_up_before, 2, vote::granted) != acquire_outcome::granted);
    given_up_before.set_electorate({4, 4, 2}, node_set::all(4));
    BOOST_CHECK(vote_of(given_up_before, 3, vote::granted) != acquire_outcome::granted);

    acquire_machine undecided{electorate{3, 2, 4}, after(0ms), t};
    BOOST_CHECK(vote_of(undecided, 0, vote::granted) == acquire_outcome::pending);
    undecided.set_electorate({3, 2, 2}, node_set::all(2));
    BOOST_CHECK(vote_of(undecided, 1, vote::granted) == acquire_outcome::granted);

    acquire_machine decided_by_a_refusal{electorate{4, 3, 5}, after(0ms), t};
    for (std::size_t node : {0u, 1u})
        BOOST_CHECK(decided_by_a_refusal.on_vote(node, vote::granted, after(1ms), 7 - node) == acquire_outcome::pending);
    decided_by_a_refusal.set_electorate({4, 3, 2}, node_set::all(3));
    BOOST_CHECK(vote_of(decided_by_a_refusal, 2, vote::refused) == acquire_outcome::pending);
    BOOST_TEST((decided_by_a_refusal.token() == token_number{7}));
    BOOST_TEST(decided_by_a_refusal.wants_confirmation(after(2ms)));

    acquire_machine grows{electorate{3}, after(0ms), t};
    BOOST_CHECK(vote_of(grows, 0, vote::granted) == acquire_outcome::pending);
    grows.set_electorate({3, 3, 3}, node_set::all(3));
    BOOST_CHECK(vote_of(grows, 1, vote::granted) == acquire_outcome::pending);
    BOOST_CHECK(vote_of(grows, 2, vote::granted) == acquire_outcome::granted);
}

BOOST_AUTO_TEST_CASE(what_a_server_that_has_left_has_answered_does_not_count)
{
    timing const t = timing_of_ten_seconds();
    acquire_machine grants{electorate{2, 1, 3}, after(0ms), t};
    BOOST_CHECK(grants.on_vote(1, vote::granted, after(1ms)) == acquire_outcome::pending);
    grants.set_electorate({2, 1, 1}, node_set::all(1));
    BOOST_TEST(!grants.token());
    BOOST_CHECK(grants.on_vote(0, vote::refused, after(2ms)) == acquire_outcome::contended);

    acquire_machine grants_late{electorate{2, 1, 1}, after(0ms), t};
    grants_late.set_electorate({2, 1, 1}, node_set::all(1));
    BOOST_CHECK(grants_late.on_vote(1, vote::granted, after(1ms)) == acquire_outcome::pending);
    BOOST_CHECK(grants_late.on_vote(0, vote::granted, after(1ms)) == acquire_outcome::granted);
    BOOST_TEST(grants_late.holders().held_on(after(2ms)) == 1u);

    acquire_machine of_list{electorate{5}, after(0ms), t};
    for (std::size_t node : {3u, 4u}) BOOST_CHECK(of_list.on_vote(node, vote::granted, after(1ms)) == acquire_outcome::pending);
    of_list.set_electorate({5, 3, 2}, node_set::all(3));
    BOOST_CHECK(of_list.on_vote(0, vote::granted, after(2ms)) == acquire_outcome::pending);
    BOOST_TEST(of_list.votes().granted() == 1u);
    BOOST_TEST((of_list.on_vote(1, vote::granted, after(2ms)) == acquire_outcome::granted), "only servers that left had granted");
    BOOST_TEST(of_list.holders().held_on(after(3ms)) == 2u);

    acquire_machine refuses{electorate{2, 1, 3}, after(0ms), t};
    BOOST_CHECK(refuses.on_vote(1, vote::refused, after(1ms)) == acquire_outcome::pending);
    refuses.set_electorate({2, 1, 1}, node_set::all(1));
    BOOST_CHECK(refuses.on_vote(0, vote::failed, after(2ms)) == acquire_outcome::no_majority);
}

BOOST_AUTO_TEST_CASE(an_adoption_drops_what_a_member_that_left_has_granted)
{
    timing const t = timing_of_ten_seconds();
    adopt_machine m{electorate{3}, t};
    BOOST_CHECK(m.on_vote(2, vote::granted, 1, after(0ms), after(1ms)) == adopt_outcome::pending);
    m.set_electorate({3, 2, 2}, node_set::all(2));
    BOOST_CHECK(m.on_vote(0, vote::granted, 1, after(2ms), after(3ms)) == adopt_outcome::pending);
    BOOST_CHECK(m.on_vote(1, vote::granted, 1, after(2ms), after(3ms)) == adopt_outcome::adopted);
}

BOOST_AUTO_TEST_CASE(an_adoption_is_not_over_while_it_is_not_known_how_many_are_a_majority)
{
    timing const t = timing_of_ten_seconds();
    adopt_machine m{electorate{3}, t};
    m.set_electorate({3, 3, 4}, node_set::all(3));
    BOOST_CHECK(m.on_vote(0, vote::refused, 1, after(0ms), after(1ms)) == adopt_outcome::pending);
    BOOST_CHECK(m.on_vote(1, vote::refused, 1, after(0ms), after(1ms)) == adopt_outcome::pending);
    BOOST_CHECK(m.on_timeout(after(2ms)) == adopt_outcome::pending);
    m.set_electorate({3, 3, 2}, node_set::all(3));
    BOOST_CHECK(m.on_timeout(after(3ms)) == adopt_outcome::over);
}

BOOST_AUTO_TEST_CASE(an_adoption_does_not_count_who_is_no_member)
{
    timing const t = timing_of_ten_seconds();
    adopt_machine refused{electorate{3}, t};
    refused.set_electorate({3, 2, 2}, node_set::all(2));
    BOOST_CHECK(refused.on_vote(2, vote::refused, 1, after(0ms), after(1ms)) == adopt_outcome::pending);
    BOOST_CHECK(refused.on_vote(0, vote::granted, 1, after(0ms), after(1ms)) == adopt_outcome::pending);
    BOOST_CHECK(refused.on_vote(1, vote::granted, 1, after(0ms), after(1ms)) == adopt_outcome::adopted);
    adopt_machine granted{electorate{3}, t};
    granted.set_electorate({3, 2, 2}, node_set::all(2));
    BOOST_CHECK(granted.on_vote(2, vote::granted, 1, after(0ms), after(1ms)) == adopt_outcome::pending);
    BOOST_CHECK(granted.on_vote(0, vote::granted, 1, after(0ms), after(1ms)) == adopt_outcome::pending);
}

BOOST_AUTO_TEST_CASE(what_a_server_that_has_left_extends_counts_no_longer_than_the_lease)
{
    tenure t{electorate{3}};
    for (std::size_t node : {0u, 2u}) t.holds(node, after(10ms));
    t.set_members(node_set::all(2));
    t.set_electorate({3, 2, 2});
    t.holds(0, after(50ms));
    t.holds(2, after(50ms));
    BOOST_TEST((t.valid_until() == after(10ms)));
    BOOST_TEST(t.may_hold(after(5ms)) == 3u);
    BOOST_TEST(t.may_hold(after(10ms)) == 2u);
}

BOOST_AUTO_TEST_CASE(a_record_tells_of_the_generation_before)
{
    auto const members_before = [](set_record const& r) {
        auto all = generation_before(r).members;
        std::sort(all.begin(), all.end());
        std::string text;
        for (auto const& each : all) text += each;
        return text + '/' + std::to_string(generation_before(r).size());
    };
    auto const four = with_members_added(of_three, {"D"});
    BOOST_TEST(members_before(four) == "ABC/3");
    BOOST_TEST(members_before(with_member_replaced(four, "B", "E")) == "ABCD/4");
    auto const three = with_member_removed(four, "A");
    BOOST_TEST(members_before(three) == "ABCD/4");
    auto const open = with_member_removed(three, "D");
    BOOST_TEST(members_before(open) == "BCD/3");
    BOOST_TEST(members_before(closed(open)) == "BC/3");
    BOOST_TEST(generation_before(open).generation == 2u);
}

BOOST_AUTO_TEST_CASE(the_text_tells_the_numbers)
{
    auto const five = with_members_added(of_three, {"D", "E"});
    BOOST_TEST(five.generation == 1u);
    BOOST_TEST(five.joined_in("D") == 1u);
    BOOST_TEST(!five.is_open());
    BOOST_TEST(five.size_before() == 3u);
    BOOST_TEST(to_text(five) == "v2 " + binding_of(five) + " s 1 0 moving 0/0 - 5/5/3/3/5 0 A 0 B 0 C 1 D 1 E");
    BOOST_TEST(binding_in(to_text(five)) == binding_of(five));
    auto const open = with_member_removed(five, "E");
    BOOST_TEST(open.is_open());
    BOOST_TEST(open.size() == 5u);
    BOOST_TEST(open.left.back() == "E");
    auto const four = closed(open);
    BOOST_TEST(!four.is_open());
    BOOST_TEST(four.size() == 4u);
    BOOST_TEST(four.size_before() == 5u);
    BOOST_TEST(binding_of(four) != binding_of(open));
    auto const again = with_member_removed(four, "A");
    BOOST_TEST(!again.is_open(), "four is even");
    BOOST_TEST(again.members == (std::vector<std::string>{"B", "C", "D"}), boost::test_tools::per_element());
    BOOST_TEST((again.had(3) && again.had(5) && !again.had(2) && !again.had(6)));
    auto moved = again;
    moved.counts.moved = true;
    BOOST_TEST(moved.is_same_generation(again));
    BOOST_TEST(binding_of(moved) == binding_of(again));
    auto left = again;
    left.counts.is_of_leaver = true;
    BOOST_TEST(left.is_same_generation(again));
    for (auto const& r : {five, open, four, again, moved, left, with_member_removed(again, "D"), with_member_replaced(four, "B", "F")}) {
        auto const read = read_set_text(to_text(r));
        BOOST_TEST_REQUIRE((read.is == set_text::kind::good), to_text(r));
        BOOST_TEST((read.record == r), to_text(r));
    }
    BOOST_TEST(with_member_replaced(four, "B", "F").size_before() == 4u);
    for (char const* wrong : {"5/0/3/3/5", "5/7/3/3/5", "5/4/3/3/5", "5/5/3/6/5", "5/5/3/3/4", "5/5/3/3", "5/5/3/3/5/5", "0/0/0/0/0",
                              "5/5/0/3/5", "5/5/3/3/65", "/5/3/3/5", "5"}) {
        auto text = to_text(five);
        text.replace(text.find("5/5/3/3/5"), 9, wrong);
        BOOST_TEST((read_set_text(text).is == set_text::kind::foreign), text);
    }
    auto text = to_text(five);
    text.replace(text.find("moving"), 6, "complete");
    BOOST_TEST((read_set_text(text).is == set_text::kind::foreign));
    text.replace(0, 2, "v4");
    BOOST_TEST((read_set_text(text).is == set_text::kind::too_new));
}

BOOST_AUTO_TEST_CASE(an_attempt_of_a_short_list_needs_all_of_it)
{
    timing const t = timing_of_ten_seconds();
    acquire_machine m{electorate{3, 3, 3}, after(0ms), t};
    BOOST_CHECK(m.on_vote(0, vote::granted, after(1ms)) == acquire_outcome::pending);
    BOOST_CHECK(m.on_vote(1, vote::granted, after(1ms)) == acquire_outcome::pending);
    BOOST_CHECK(m.on_vote(2, vote::granted, after(1ms)) == acquire_outcome::granted);
    BOOST_TEST((m.holders().valid_until() == m.deadline()));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
