#include "quorum_support.hpp"

#include <boost/test/unit_test.hpp>

#include <algorithm>

namespace redlock::quorum {

namespace {

timing const extend_times = make_timing(ten_seconds());
time_point const first_end = start + ten_seconds_validity;

// A lease that `held` of `nodes` nodes granted, and one extension of it after another.
struct story {
    story(std::size_t count, std::size_t held) : nodes{count}, lease{granted_by(count, held), start, start + 2ms, extend_times} {}
    explicit story(std::size_t count) : story{count, count} {}

    extend_machine extension(time_point sent)
    {
        lease.on_extension_sent(sent);
        return {nodes, sent, lease.valid_until(), extend_times};
    }

    // A whole round; returns what was announced.
    extend_outcome round(time_point sent, std::vector<vote> const& votes)
    {
        auto machine = extension(sent);
        extend_outcome announced = extend_outcome::pending;
        for (std::size_t node = 0; node < nodes; ++node) {
            auto const o = machine.on_vote(lease, node, votes[node]);
            if (o != extend_outcome::pending) announced = o;
        }
        lease.on_extension_done(announced, sent + 1ms);
        return announced;
    }

    static tenure granted_by(std::size_t count, std::size_t held)
    {
        tenure t{count};
        for (std::size_t node = 0; node < held; ++node) t.holds(node, first_end);
        return t;
    }

    std::size_t nodes;
    lease_machine lease;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(extend)

BOOST_AUTO_TEST_CASE(a_majority_of_renewals_renews_without_waiting_for_the_rest)
{
    story s{3};
    auto extension = s.extension(start + 3s);
    BOOST_TEST(extension.on_vote(s.lease, 1, granted) == extend_outcome::pending);
    BOOST_TEST(ns{s.lease.valid_until()} == ns{first_end});
    BOOST_TEST(extension.on_vote(s.lease, 2, granted) == extend_outcome::renewed);
    BOOST_TEST(ns{s.lease.valid_until()} == ns{start + 3s + ten_seconds_validity});
}

BOOST_AUTO_TEST_CASE(four_nodes_need_three_renewals)
{
    story s{4};
    auto extension = s.extension(start + 3s);
    extension.on_vote(s.lease, 0, granted);
    BOOST_TEST(extension.on_vote(s.lease, 1, granted) == extend_outcome::pending);
    BOOST_TEST(extension.on_vote(s.lease, 2, granted) == extend_outcome::renewed);
}

BOOST_AUTO_TEST_CASE(a_key_gone_on_one_node_and_never_granted_by_two_silent_ones_is_lost)
{
    story s{5, 3};
    BOOST_TEST(s.round(start + 3s, {granted, granted, refused, failed, failed}) == extend_outcome::lost);
}

BOOST_AUTO_TEST_CASE(a_key_gone_on_one_node_is_not_lost_while_a_majority_is_known)
{
    story s{5, 4};
    BOOST_TEST(s.round(start + 3s, {granted, failed, refused, failed, failed}) == extend_outcome::unknown);
}

BOOST_AUTO_TEST_CASE(a_key_gone_on_a_majority_loses_the_lease_at_once)
{
    story s{3};
    auto extension = s.extension(start + 3s);
    BOOST_TEST(extension.on_vote(s.lease, 0, refused) == extend_outcome::pending);
    BOOST_TEST(extension.on_vote(s.lease, 2, refused) == extend_outcome::lost);
    BOOST_TEST(s.lease.duty(start + 3s) == lease_duty::stop);
}

BOOST_AUTO_TEST_CASE(failures_lose_nothing_before_validity_ends)
{
    story s{3};
    BOOST_TEST(s.round(start + 3s, {failed, failed, failed}) == extend_outcome::unknown);
    BOOST_TEST(ns{s.lease.valid_until()} == ns{first_end});
    BOOST_TEST(s.lease.duty(start + 3'001ms) == lease_duty::none);
    BOOST_TEST(s.lease.duty(s.lease.due()) == lease_duty::extend);
}

BOOST_AUTO_TEST_CASE(one_refusal_among_failures_is_unknown_not_lost)
{
    story s{3};
    BOOST_TEST(s.round(start + 3s, {refused, failed, failed}) == extend_outcome::unknown);
    BOOST_TEST(s.lease.held_on(start + 3s) == 2u);
    BOOST_TEST(ns{s.lease.valid_until()} == ns{first_end});
}

BOOST_AUTO_TEST_CASE(refusals_of_two_rounds_add_up_to_a_loss)
{
    story s{3};
    BOOST_TEST(s.round(start + 3s, {refused, failed, failed}) == extend_outcome::unknown);
    BOOST_TEST(s.round(start + 4s, {failed, refused, failed}) == extend_outcome::lost);
}

BOOST_AUTO_TEST_CASE(renewals_of_two_rounds_add_up_to_held)
{
    story s{5};
    BOOST_TEST(s.round(start + 3s, {granted, granted, failed, failed, failed}) == extend_outcome::unknown);
    BOOST_TEST(ns{s.lease.valid_until()} == ns{first_end});
    BOOST_TEST(s.round(start + 4s, {failed, failed, granted, failed, failed}) == extend_outcome::held);
    BOOST_TEST(ns{s.lease.valid_until()} == ns{start + 3s + ten_seconds_validity});
}

BOOST_AUTO_TEST_CASE(the_rest_of_a_bare_majority_renews_it)
{
    story s{5, 3};
    BOOST_TEST(s.round(start + 3s, {granted, granted, granted, refused, refused}) == extend_outcome::renewed);
    BOOST_TEST(ns{s.lease.valid_until()} == ns{start + 3s + ten_seconds_validity});
}

BOOST_AUTO_TEST_CASE(a_lease_on_a_bare_majority_does_not_survive_one_lost_key)
{
    story s{5, 3};
    auto extension = s.extension(start + 3s);
    extension.on_vote(s.lease, 3, refused);
    extension.on_vote(s.lease, 4, refused);
    BOOST_TEST(extension.on_vote(s.lease, 0, refused) == extend_outcome::lost);
}

BOOST_AUTO_TEST_CASE(a_silent_majority_is_unknown_at_the_node_timeout)
{
    story s{3};
    auto extension = s.extension(start + 3s);
    BOOST_TEST(ns{extension.times_out()} == ns{start + 3'100ms});
    extension.on_vote(s.lease, 0, granted);
    BOOST_TEST(extension.on_timeout(s.lease) == extend_outcome::unknown);
    BOOST_TEST(extension.outcome() == extend_outcome::unknown);
}

BOOST_AUTO_TEST_CASE(a_timeout_after_the_decision_changes_nothing)
{
    story s{3};
    auto extension = s.extension(start + 3s);
    extension.on_vote(s.lease, 0, granted);
    extension.on_vote(s.lease, 1, granted);
    BOOST_TEST(extension.on_timeout(s.lease) == extend_outcome::pending);
    BOOST_TEST(extension.outcome() == extend_outcome::renewed);
}

BOOST_AUTO_TEST_CASE(renewals_after_the_timeout_still_count_for_validity)
{
    story s{3};
    auto extension = s.extension(start + 3s);
    extension.on_timeout(s.lease);
    BOOST_TEST(extension.on_vote(s.lease, 0, granted) == extend_outcome::pending);
    BOOST_TEST(extension.on_vote(s.lease, 1, granted) == extend_outcome::pending);
    BOOST_TEST(extension.outcome() == extend_outcome::unknown);
    BOOST_TEST(ns{s.lease.valid_until()} == ns{start + 3s + ten_seconds_validity});
}

BOOST_AUTO_TEST_CASE(refusals_after_the_timeout_still_end_the_lease)
{
    story s{3};
    auto extension = s.extension(start + 3s);
    extension.on_timeout(s.lease);
    extension.on_vote(s.lease, 0, refused);
    extension.on_vote(s.lease, 1, refused);
    BOOST_TEST(s.lease.holders().majority_gone());
    BOOST_TEST(s.lease.duty(start + 3'200ms) == lease_duty::stop);
}

BOOST_AUTO_TEST_CASE(a_late_answer_of_an_old_round_does_not_shorten_a_newer_renewal)
{
    story s{3};
    auto old = s.extension(start + 3s);
    old.on_timeout(s.lease);
    BOOST_TEST(s.round(start + 4s, {granted, granted, granted}) == extend_outcome::renewed);
    old.on_vote(s.lease, 0, granted);
    old.on_vote(s.lease, 1, granted);
    BOOST_TEST(ns{s.lease.valid_until()} == ns{start + 4s + ten_seconds_validity});
}

BOOST_AUTO_TEST_CASE(the_outcome_is_that_of_the_definition_for_every_ballot)
{
    for (std::size_t nodes = 1; nodes <= 7; ++nodes) {
        int wrong = 0;
        for_each_ballot(nodes, {granted, refused, failed}, [&](std::vector<vote> const& votes) {
            story s{nodes};
            auto const grants = static_cast<std::size_t>(std::count(votes.begin(), votes.end(), granted));
            auto const refusals = static_cast<std::size_t>(std::count(votes.begin(), votes.end(), refused));
            auto expected = extend_outcome::unknown;
            if (grants >= nodes / 2 + 1) expected = extend_outcome::renewed;
            if (nodes - refusals < nodes / 2 + 1) expected = extend_outcome::lost;
            wrong += s.round(start + 3s, votes) != expected;
        });
        BOOST_TEST(wrong == 0, wrong << " wrong outcomes with " << nodes << " nodes");
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
