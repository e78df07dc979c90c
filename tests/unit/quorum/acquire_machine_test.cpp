#include "quorum_support.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <numeric>

namespace redlock::quorum {

namespace {

timing const times = make_timing(ten_seconds());

// The last moment at which a majority is still in time is one nanosecond before this.
time_point const too_late = start + ten_seconds_validity - 1s;

acquire_machine attempt(std::size_t nodes) { return {nodes, start, times}; }

acquire_outcome expected_outcome(std::vector<vote> const& votes)
{
    auto const count = [&](vote v) { return static_cast<std::size_t>(std::count(votes.begin(), votes.end(), v)); };
    std::size_t const needed = votes.size() / 2 + 1;
    if (count(granted) >= needed) return acquire_outcome::granted;
    return count(refused) > votes.size() - needed ? acquire_outcome::contended : acquire_outcome::no_majority;
}

// Casts the votes in this order and returns the decision; `pending`, which is never right, unless it was announced
// exactly once.
acquire_outcome decide_in_order(std::vector<vote> const& votes, std::vector<std::size_t> const& order)
{
    acquire_machine machine = attempt(votes.size());
    std::size_t announcements = 0;
    acquire_outcome decision = acquire_outcome::pending;
    for (std::size_t node : order) {
        acquire_outcome const o = machine.on_vote(node, votes[node], start + 1ms);
        if (o != acquire_outcome::pending) {
            ++announcements;
            decision = o;
        }
    }
    return announcements == 1 && machine.outcome() == decision ? decision : acquire_outcome::pending;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(acquire)

BOOST_AUTO_TEST_CASE(two_of_three_grants_acquire_without_waiting_for_the_third)
{
    auto machine = attempt(3);
    BOOST_TEST(machine.on_vote(2, granted, start + 1ms) == acquire_outcome::pending);
    BOOST_TEST(machine.on_vote(0, granted, start + 2ms) == acquire_outcome::granted);
    BOOST_TEST(machine.outcome() == acquire_outcome::granted);
    BOOST_TEST(machine.holders().held_on(start + 2ms) == 2u);
}

BOOST_AUTO_TEST_CASE(the_only_node_decides_alone)
{
    BOOST_TEST(attempt(1).on_vote(0, granted, start) == acquire_outcome::granted);
    BOOST_TEST(attempt(1).on_vote(0, refused, start) == acquire_outcome::contended);
    BOOST_TEST(attempt(1).on_vote(0, failed, start) == acquire_outcome::no_majority);
}

BOOST_AUTO_TEST_CASE(four_nodes_need_three_grants)
{
    auto machine = attempt(4);
    machine.on_vote(0, granted, start);
    BOOST_TEST(machine.on_vote(1, granted, start) == acquire_outcome::pending);
    BOOST_TEST(machine.on_vote(2, granted, start) == acquire_outcome::granted);
}

BOOST_AUTO_TEST_CASE(two_clients_with_half_of_four_nodes_each_both_lose)
{
    BOOST_TEST(decide_in_order({granted, granted, refused, refused}, {0, 1, 2, 3}) == acquire_outcome::contended);
    BOOST_TEST(decide_in_order({refused, refused, granted, granted}, {0, 1, 2, 3}) == acquire_outcome::contended);
}

BOOST_AUTO_TEST_CASE(refusals_and_failures_are_different_verdicts)
{
    BOOST_TEST(decide_in_order({refused, refused, failed}, {0, 1, 2}) == acquire_outcome::contended);
    BOOST_TEST(decide_in_order({failed, failed, refused}, {0, 1, 2}) == acquire_outcome::no_majority);
    BOOST_TEST(decide_in_order({granted, refused, failed}, {0, 1, 2}) == acquire_outcome::no_majority);
    BOOST_TEST(decide_in_order({granted, refused, refused}, {0, 1, 2}) == acquire_outcome::contended);
}

BOOST_AUTO_TEST_CASE(a_dead_node_does_not_hide_that_the_lock_is_taken)
{
    auto machine = attempt(3);
    BOOST_TEST(machine.on_vote(0, failed, start) == acquire_outcome::pending);
    BOOST_TEST(machine.on_vote(1, refused, start + 1ms) == acquire_outcome::pending);
    BOOST_TEST(machine.on_vote(2, refused, start + 2ms) == acquire_outcome::contended);
}

BOOST_AUTO_TEST_CASE(one_that_hears_all_nodes_is_refused_only_when_all_have_voted)
{
    auto machine = attempt(3);
    machine.hear_all_nodes();
    BOOST_TEST(machine.on_vote(0, refused, start) == acquire_outcome::pending);
    BOOST_TEST(!machine.is_refused_but_waits());
    BOOST_TEST(machine.on_vote(1, refused, start) == acquire_outcome::pending);
    BOOST_TEST(machine.is_refused_but_waits());
    BOOST_TEST(machine.on_vote(2, granted, start + 1ms) == acquire_outcome::contended);
    BOOST_TEST(machine.votes().granted() == 1u);
}

BOOST_AUTO_TEST_CASE(one_that_hears_all_nodes_can_stop_waiting)
{
    auto machine = attempt(3);
    machine.hear_all_nodes();
    machine.on_vote(0, refused, start);
    machine.on_vote(1, refused, start);
    BOOST_TEST(machine.wait_no_more(start + 1ms) == acquire_outcome::contended);
    BOOST_TEST(machine.votes().of(2) == vote::pending);
    auto timed_out = attempt(3);
    timed_out.hear_all_nodes();
    timed_out.on_vote(0, refused, start);
    timed_out.on_vote(1, refused, start);
    BOOST_TEST(timed_out.on_timeout(start + 1ms) == acquire_outcome::contended);
}

BOOST_AUTO_TEST_CASE(one_that_hears_all_nodes_is_granted_without_waiting)
{
    auto machine = attempt(3);
    machine.hear_all_nodes();
    machine.on_vote(0, granted, start);
    BOOST_TEST(machine.on_vote(1, granted, start) == acquire_outcome::granted);
}

BOOST_AUTO_TEST_CASE(the_outcome_is_that_of_the_definition_for_every_ballot)
{
    for (std::size_t nodes = 1; nodes <= 7; ++nodes) {
        std::vector<std::size_t> order(nodes);
        std::iota(order.begin(), order.end(), std::size_t{0});
        int wrong = 0;
        for_each_ballot(nodes, {granted, refused, failed},
                        [&](std::vector<vote> const& votes) { wrong += decide_in_order(votes, order) != expected_outcome(votes); });
        BOOST_TEST(wrong == 0, wrong << " wrong outcomes with " << nodes << " nodes");
    }
}

BOOST_AUTO_TEST_CASE(the_outcome_does_not_depend_on_the_order_of_the_votes)
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

BOOST_AUTO_TEST_CASE(validity_counts_from_before_the_request_was_sent)
{
    lock_options options = ten_seconds();
    options.clock_drift = 0.25;
    timing const t = make_timing(options);
    acquire_machine machine{3, start, t};
    machine.on_vote(0, granted, start + 300ms);
    machine.on_vote(1, granted, start + 700ms);
    BOOST_TEST(ns{machine.holders().valid_until()} == ns{start + 7'500ms - 2ms});
    BOOST_TEST(ns{machine.deadline()} == ns{start + 7'498ms});
}

BOOST_AUTO_TEST_CASE(a_majority_at_the_last_nanosecond_is_in_time)
{
    auto machine = attempt(3);
    machine.on_vote(0, granted, start + 1ms);
    BOOST_TEST(machine.on_vote(1, granted, too_late - 1ns) == acquire_outcome::granted);
}

BOOST_AUTO_TEST_CASE(a_majority_one_nanosecond_later_is_no_lease)
{
    auto machine = attempt(3);
    machine.on_vote(0, granted, start + 1ms);
    BOOST_TEST(machine.on_vote(1, granted, too_late) == acquire_outcome::validity_exhausted);
    BOOST_TEST(machine.outcome() == acquire_outcome::validity_exhausted);
}

BOOST_AUTO_TEST_CASE(without_a_margin_validity_ends_at_its_own_end)
{
    lock_options options = ten_seconds();
    options.stop_margin = 0ms;
    timing const t = make_timing(options);
    acquire_machine in_time{1, start, t};
    acquire_machine late{1, start, t};
    BOOST_TEST(in_time.on_vote(0, granted, start + ten_seconds_validity - 1ns) == acquire_outcome::granted);
    BOOST_TEST(late.on_vote(0, granted, start + ten_seconds_validity) == acquire_outcome::validity_exhausted);
}

BOOST_AUTO_TEST_CASE(a_late_refusal_is_contention_not_exhaustion)
{
    auto machine = attempt(3);
    machine.on_vote(0, refused, too_late + 1h);
    BOOST_TEST(machine.on_vote(1, refused, too_late + 1h) == acquire_outcome::contended);
}

BOOST_AUTO_TEST_CASE(a_grant_after_the_decision_makes_the_lease_stand_on_one_node_more)
{
    auto machine = attempt(5);
    for (std::size_t node : {0u, 1u, 2u}) machine.on_vote(node, granted, start + 1ms);
    BOOST_TEST(machine.holders().held_on(start + 1ms) == 3u);
    BOOST_TEST(machine.on_vote(4, granted, start + 80ms) == acquire_outcome::pending);
    BOOST_TEST(machine.holders().held_on(start + 80ms) == 4u);
    BOOST_TEST(machine.outcome() == acquire_outcome::granted);
}

BOOST_AUTO_TEST_CASE(a_grant_after_a_failed_attempt_is_known_so_that_it_can_be_undone)
{
    auto machine = attempt(3);
    BOOST_TEST(machine.on_timeout(start + 100ms) == acquire_outcome::no_majority);
    BOOST_TEST(machine.on_vote(0, granted, start + 150ms) == acquire_outcome::pending);
    BOOST_TEST(machine.on_vote(1, granted, start + 150ms) == acquire_outcome::pending);
    BOOST_TEST(machine.holders().held_on(start + 150ms) == 2u);
    BOOST_TEST(machine.outcome() == acquire_outcome::no_majority);
}

BOOST_AUTO_TEST_CASE(a_second_answer_of_one_node_is_not_a_second_vote)
{
    auto machine = attempt(3);
    for (int repeat = 0; repeat < 3; ++repeat) BOOST_TEST(machine.on_vote(0, granted, start + 1ms) == acquire_outcome::pending);
    BOOST_TEST(machine.votes().granted() == 1u);
    BOOST_TEST(machine.holders().held_on(start + 1ms) == 1u);

    for (int repeat = 0; repeat < 3; ++repeat) BOOST_TEST(machine.on_vote(1, refused, start + 1ms) == acquire_outcome::pending);
    BOOST_TEST(machine.votes().refused() == 1u);
}

BOOST_AUTO_TEST_CASE(nodes_that_did_not_answer_in_time_have_failed)
{
    auto machine = attempt(3);
    BOOST_TEST(ns{machine.times_out()} == ns{start + 100ms});
    machine.on_vote(0, granted, start + 1ms);
    BOOST_TEST(machine.on_timeout(start + 100ms) == acquire_outcome::no_majority);
    BOOST_TEST(machine.votes().of(0) == granted);
    BOOST_TEST(machine.votes().failed() == 2u);
}

BOOST_AUTO_TEST_CASE(a_timeout_after_a_refusal_cannot_tell_who_holds_the_lock)
{
    auto machine = attempt(3);
    machine.on_vote(0, refused, start + 1ms);
    BOOST_TEST(machine.on_timeout(start + 100ms) == acquire_outcome::no_majority);
}

BOOST_AUTO_TEST_CASE(a_timeout_after_the_decision_changes_nothing)
{
    auto machine = attempt(3);
    machine.on_vote(0, granted, start + 1ms);
    machine.on_vote(1, granted, start + 1ms);
    BOOST_TEST(machine.on_timeout(start + 100ms) == acquire_outcome::pending);
    BOOST_TEST(machine.outcome() == acquire_outcome::granted);
    BOOST_TEST(machine.votes().of(2) == vote::pending);
}

// Tokens.

BOOST_AUTO_TEST_CASE(equal_tokens_of_a_majority_need_no_second_round)
{
    auto machine = attempt(3);
    machine.on_vote(0, granted, start + 1ms, 7);
    BOOST_TEST(machine.on_vote(1, granted, start + 1ms, 7) == acquire_outcome::granted);
    BOOST_TEST(!machine.wants_confirmation(start + 1ms));
    BOOST_TEST(*machine.token() == 7u);
}

BOOST_AUTO_TEST_CASE(the_largest_of_different_tokens_is_confirmed)
{
    auto machine = attempt(3);
    machine.on_vote(0, granted, start + 1ms, 7);
    BOOST_TEST(!machine.token().has_value());
    BOOST_TEST(machine.on_vote(2, granted, start + 2ms, 9) == acquire_outcome::pending);
    BOOST_TEST(machine.wants_confirmation(start + 2ms));
    BOOST_TEST(!machine.wants_confirmation(start + 2ms), "once");
    BOOST_TEST(*machine.token() == 9u);
    BOOST_TEST(ns{machine.times_out()} == ns{start + 2ms + 100ms}, "the second round has its own time");
    BOOST_TEST(machine.on_confirmation(2, granted, start + 3ms) == acquire_outcome::pending, "it was confirmed already");
    BOOST_TEST(machine.on_confirmation(0, granted, start + 3ms) == acquire_outcome::granted);
    BOOST_TEST(ns{machine.holders().valid_until()} == ns{start + ten_seconds_validity}, "counted from the first round");
}

BOOST_AUTO_TEST_CASE(a_late_grant_of_the_same_token_confirms_it)
{
    auto machine = attempt(3);
    machine.on_vote(0, granted, start + 1ms, 7);
    machine.on_vote(1, granted, start + 1ms, 9);
    BOOST_TEST(machine.wants_confirmation(start + 1ms));
    BOOST_TEST(machine.on_vote(2, granted, start + 2ms, 9) == acquire_outcome::granted);
}

BOOST_AUTO_TEST_CASE(a_late_grant_to_a_reader_counts_only_when_it_is_confirmed)
{
    acquire_machine machine{3, start, times, true};
    machine.on_vote(0, granted, start + 1ms, 7);
    machine.on_vote(1, granted, start + 1ms, 9);
    BOOST_TEST(machine.wants_confirmation(start + 1ms));
    BOOST_TEST(machine.on_vote(2, granted, start + 2ms, 9) == acquire_outcome::pending);
    BOOST_TEST(machine.on_confirmation(2, granted, start + 3ms) == acquire_outcome::granted);
}

BOOST_AUTO_TEST_CASE(equal_counters_of_a_majority_of_readers_need_no_second_round)
{
    acquire_machine machine{3, start, times, true};
    machine.on_vote(0, granted, start + 1ms, 9);
    BOOST_TEST(machine.on_vote(1, granted, start + 1ms, 9) == acquire_outcome::granted);
    BOOST_TEST(!machine.wants_confirmation(start + 1ms));
}

BOOST_AUTO_TEST_CASE(a_late_grant_of_a_larger_token_is_a_refusal)
{
    auto machine = attempt(3);
    machine.on_vote(0, granted, start + 1ms, 7);
    machine.on_vote(1, granted, start + 1ms, 9);
    BOOST_TEST(machine.on_vote(2, granted, start + 2ms, 10) == acquire_outcome::pending);
    BOOST_TEST(machine.votes().of(2) == refused);
    BOOST_TEST(!machine.fits(10));
    BOOST_TEST(machine.on_confirmation(0, refused, start + 3ms) == acquire_outcome::contended);
    BOOST_TEST(machine.holders().held_on(start + 3ms) == 1u);
}

BOOST_AUTO_TEST_CASE(a_confirmation_that_is_refused_or_fails_takes_the_grant_back)
{
    auto overtaken = attempt(3);
    overtaken.on_vote(0, granted, start + 1ms, 7);
    overtaken.on_vote(1, granted, start + 1ms, 9);
    BOOST_TEST(overtaken.on_confirmation(0, refused, start + 2ms) == acquire_outcome::pending, "the third may still agree");
    BOOST_TEST(overtaken.votes().of(0) == refused);
    BOOST_TEST(overtaken.on_vote(2, refused, start + 2ms) == acquire_outcome::contended);

    auto broken = attempt(3);
    broken.on_vote(0, granted, start + 1ms, 7);
    broken.on_vote(1, granted, start + 1ms, 9);
    broken.on_vote(2, failed, start + 1ms);
    BOOST_TEST(broken.on_confirmation(0, failed, start + 2ms) == acquire_outcome::no_majority);
}

BOOST_AUTO_TEST_CASE(what_was_not_confirmed_in_time_has_failed)
{
    auto machine = attempt(3);
    machine.on_vote(0, granted, start + 1ms, 7);
    machine.on_vote(1, granted, start + 1ms, 9);
    machine.on_vote(2, refused, start + 1ms);
    BOOST_TEST(machine.on_timeout(start + 101ms) == acquire_outcome::no_majority);
    BOOST_TEST(machine.votes().of(0) == failed);
    BOOST_TEST(machine.votes().of(1) == granted);
    BOOST_TEST(machine.on_confirmation(0, granted, start + 102ms) == acquire_outcome::pending, "too late");
}

BOOST_AUTO_TEST_CASE(a_confirmation_that_comes_too_late_is_no_lease)
{
    auto machine = attempt(3);
    machine.on_vote(0, granted, start + 1ms, 7);
    machine.on_vote(1, granted, start + 1ms, 9);
    BOOST_TEST(machine.on_confirmation(0, granted, too_late) == acquire_outcome::validity_exhausted);
}

BOOST_AUTO_TEST_CASE(a_confirmation_that_is_refused_after_the_decision_takes_the_node_away)
{
    auto const t = make_timing(ten_seconds());
    acquire_machine machine{3, start, t};
    machine.on_vote(0, granted, start + 1ms, 10);
    machine.on_vote(1, granted, start + 1ms, 9);
    machine.on_vote(2, granted, start + 1ms, 8);
    BOOST_TEST(machine.wants_confirmation(start + 1ms));
    BOOST_TEST(machine.on_confirmation(1, granted, start + 2ms) == acquire_outcome::granted);
    BOOST_TEST(machine.holders().held_on(start + 3ms) == 3u);
    BOOST_TEST(machine.on_confirmation(2, refused, start + 2ms) == acquire_outcome::pending, "it is decided");
    BOOST_TEST(machine.outcome() == acquire_outcome::granted);
    BOOST_TEST(machine.holders().held_on(start + 3ms) == 2u);

    lease_machine lease{machine.holders(), start, start + 3ms, t};
    BOOST_TEST(lease.held_on(start + 3ms) == 2u);
    lease.on_late_refusal(1);
    BOOST_TEST(lease.held_on(start + 3ms) == 1u);
    BOOST_TEST(ns{lease.valid_until()} == ns{time_point{}}, "no majority has it any more");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
