#include "quorum_support.hpp"

#include <algorithm>
#include <deque>

#include <boost/test/unit_test.hpp>

namespace redlock::quorum {

namespace {

// Granted by all three nodes, 2 ms after the request went out.
lease_machine acquired_lease(lock_options const& options = ten_seconds())
{
    static std::deque<timing> kept;  // for as long as there are leases
    timing const& t = kept.emplace_back(make_timing(options));
    tenure holders{3};
    for (std::size_t node = 0; node < 3; ++node) holders.holds(node, start + t.validity);
    return {holders, start, start + 2ms, t};
}

void renew_all(lease_machine& lease, time_point sent)
{
    lease.on_extension_sent(sent);
    for (std::size_t node = 0; node < 3; ++node) lease.holders().holds(node, sent + lease.times().validity);
    lease.on_extension_done(extend_outcome::renewed, sent + 1ms);
}

// Every node is down, so each extension fails the moment it is sent. How many are sent before the lease is given up?
int failed_extensions(lease_machine lease)
{
    int tries = 0;
    time_point now = lease.due();
    for (; lease.duty(now) == lease_duty::extend && tries < 100'000; now = lease.due()) {
        ++tries;
        lease.on_extension_sent(now);
        lease.on_extension_done(extend_outcome::unknown, now);
        if (lease.due() <= now) return -1;  // the watchdog would spin
    }
    return lease.duty(now) == lease_duty::stop ? tries : -1;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lease)

BOOST_AUTO_TEST_CASE(the_first_extension_is_due_an_interval_after_the_request_was_sent)
{
    auto const lease = acquired_lease();
    BOOST_TEST(ns{lease.due()} == ns{start + 3s});
    BOOST_TEST(lease.duty(start + 2ms) == lease_duty::none);
    BOOST_TEST(lease.duty(start + 3s - 1ns) == lease_duty::none);
    BOOST_TEST(lease.duty(start + 3s) == lease_duty::extend);
}

BOOST_AUTO_TEST_CASE(an_extension_may_go_early_to_share_a_round)
{
    auto const lease = acquired_lease();
    BOOST_TEST(lease.duty(start + 2'900ms, 100ms) == lease_duty::extend);
    BOOST_TEST(lease.duty(start + 2'900ms - 1ns, 100ms) == lease_duty::none);
}

BOOST_AUTO_TEST_CASE(being_early_never_stops_a_lease)
{
    auto options = ten_seconds();
    options.auto_extend = false;
    auto const lease = acquired_lease(options);
    BOOST_TEST(lease.duty(lease.stops_at() - 1ns, 1h) == lease_duty::none);
}

BOOST_AUTO_TEST_CASE(a_renewed_lease_is_extended_again_an_interval_after_the_last_request)
{
    auto lease = acquired_lease();
    renew_all(lease, start + 3s);
    BOOST_TEST(ns{lease.valid_until()} == ns{start + 3s + ten_seconds_validity});
    BOOST_TEST(ns{lease.due()} == ns{start + 6s});
}

BOOST_AUTO_TEST_CASE(a_lease_lives_as_long_as_it_is_renewed)
{
    auto lease = acquired_lease();
    for (int round = 1; round <= 1'000; ++round) {
        time_point const due = lease.due();
        BOOST_REQUIRE(lease.duty(due) == lease_duty::extend);
        renew_all(lease, due);
    }
    BOOST_TEST(ns{lease.valid_until()} == ns{start + 3'000s + ten_seconds_validity});
}

BOOST_AUTO_TEST_CASE(no_second_extension_is_due_while_one_is_under_way)
{
    auto options = ten_seconds();
    options.extend_interval = 20ms;
    options.node_timeout = 100ms;
    auto lease = acquired_lease(options);
    lease.on_extension_sent(start + 20ms);
    BOOST_TEST(lease.duty(start + 119ms) == lease_duty::none);
    BOOST_TEST(lease.duty(start + 120ms) == lease_duty::extend);
}

BOOST_AUTO_TEST_CASE(a_short_interval_is_kept_although_the_node_timeout_is_longer)
{
    auto options = ten_seconds();
    options.extend_interval = 20ms;
    options.node_timeout = 100ms;
    auto lease = acquired_lease(options);
    renew_all(lease, start + 20ms);
    BOOST_TEST(ns{lease.due()} == ns{start + 40ms});
}

BOOST_AUTO_TEST_CASE(a_lease_that_nobody_extends_stops_a_margin_before_its_validity_ends)
{
    auto const lease = acquired_lease();
    time_point const stop = start + ten_seconds_validity - 1s;
    BOOST_TEST(ns{lease.stops_at()} == ns{stop});
    BOOST_TEST(lease.duty(stop - 1ns) == lease_duty::extend);
    BOOST_TEST(lease.duty(stop) == lease_duty::stop);
}

BOOST_AUTO_TEST_CASE(a_watchdog_that_wakes_far_too_late_stops_instead_of_extending)
{
    auto const lease = acquired_lease();
    BOOST_TEST(lease.duty(start + 24h) == lease_duty::stop);
    BOOST_TEST(lease.duty(lease.valid_until() + 1ns, 1s) == lease_duty::stop);
}

BOOST_AUTO_TEST_CASE(without_auto_extend_only_the_end_is_due)
{
    auto options = ten_seconds();
    options.auto_extend = false;
    auto const lease = acquired_lease(options);
    BOOST_TEST(ns{lease.due()} == ns{lease.stops_at()});
    BOOST_TEST(lease.duty(start + 5s) == lease_duty::none);
    BOOST_TEST(lease.duty(lease.stops_at()) == lease_duty::stop);
}

BOOST_AUTO_TEST_CASE(an_unknown_outcome_is_retried_sooner_than_the_interval)
{
    auto lease = acquired_lease();
    lease.on_extension_sent(start + 3s);
    lease.on_extension_done(extend_outcome::unknown, start + 3'100ms);
    duration const left = lease.stops_at() - (start + 3'100ms);
    BOOST_TEST(ns{lease.due()} == ns{start + 3'100ms + left / 8});
    BOOST_TEST(ns{lease.valid_until()} == ns{start + ten_seconds_validity});
}

BOOST_AUTO_TEST_CASE(a_held_outcome_is_retried_like_an_unknown_one)
{
    auto lease = acquired_lease();
    lease.on_extension_sent(start + 3s);
    lease.on_extension_done(extend_outcome::held, start + 3'100ms);
    BOOST_TEST(ns{lease.due()} < ns{start + 6s});
}

BOOST_AUTO_TEST_CASE(retries_of_a_lease_that_cannot_be_extended_are_bounded)
{
    int const tries = failed_extensions(acquired_lease());
    BOOST_TEST(tries > 10);
    BOOST_TEST(tries < 70);  // ln(5998 ms / 8 ms) / ln(8/7) + 8, and a first one

    auto longest = ten_seconds();
    longest.ttl = std::chrono::days{30};
    longest.extend_interval = std::chrono::days{10};
    BOOST_TEST(failed_extensions(acquired_lease(longest)) > 10);
    BOOST_TEST(failed_extensions(acquired_lease(longest)) < 200);

    lock_options shortest;
    shortest.ttl = 10ms;
    BOOST_TEST(failed_extensions(acquired_lease(shortest)) > 0);
    BOOST_TEST(failed_extensions(acquired_lease(shortest)) < 10);
}

BOOST_AUTO_TEST_CASE(a_retry_never_waits_longer_than_the_interval)
{
    auto options = ten_seconds();
    options.extend_interval = 50ms;
    options.node_timeout = 10ms;
    auto lease = acquired_lease(options);
    lease.on_extension_sent(start + 50ms);
    lease.on_extension_done(extend_outcome::unknown, start + 60ms);
    BOOST_TEST(ns{lease.due()} == ns{start + 100ms});
}

BOOST_AUTO_TEST_CASE(a_late_grant_makes_the_lease_stand_on_one_node_more)
{
    timing const t = make_timing(ten_seconds());
    tenure two_of_three{3};
    two_of_three.holds(0, start + t.validity);
    two_of_three.holds(1, start + t.validity);
    lease_machine lease{two_of_three, start, start + 2ms, t};
    BOOST_TEST(lease.held_on(start + 2ms) == 2u);
    lease.on_late_grant(2, start + t.validity);
    BOOST_TEST(lease.held_on(start + 90ms) == 3u);
    BOOST_TEST(ns{lease.valid_until()} == ns{start + t.validity});
}

BOOST_AUTO_TEST_CASE(a_lease_is_not_held_longer_than_max_hold)
{
    auto options = ten_seconds();
    options.max_hold = 20s;
    auto lease = acquired_lease(options);
    for (auto sent : {3s, 6s, 9s, 12s, 15s, 18s}) renew_all(lease, start + sent);
    time_point const end = start + 2ms + 20s;  // counted from its acquisition
    BOOST_TEST(ns{lease.stops_at()} == ns{end});
    BOOST_TEST(ns{lease.due()} == ns{end});
    BOOST_TEST(lease.duty(end - 1ns) == lease_duty::none);
    BOOST_TEST(lease.duty(end) == lease_duty::stop_max_hold);
}

BOOST_AUTO_TEST_CASE(a_lease_that_ended_before_max_hold_is_lost_not_held_too_long)
{
    auto options = ten_seconds();
    options.max_hold = 20s;
    auto const lease = acquired_lease(options);
    BOOST_TEST(lease.duty(lease.stops_at()) == lease_duty::stop);
    BOOST_TEST(lease.duty(start + 1h) == lease_duty::stop);
}

BOOST_AUTO_TEST_CASE(max_hold_may_end_before_the_first_extension)
{
    auto options = ten_seconds();
    options.max_hold = 1s;
    auto const lease = acquired_lease(options);
    BOOST_TEST(ns{lease.due()} == ns{start + 1'002ms});
    BOOST_TEST(lease.duty(start + 1'002ms) == lease_duty::stop_max_hold);
}

// A node that answers every extension with an error, and whose vote counts again and again.
BOOST_AUTO_TEST_CASE(what_is_wanted_for_minutes_does_not_come_more_often_in_the_end)
{
    auto lease = acquired_lease();
    auto now = start;
    for (int i = 0; i < 200; ++i) {
        lease.want_recreate(now);
        BOOST_TEST((lease.due() > now));
        if (i > 20) BOOST_TEST((lease.duty(now + 1s) == lease_duty::none), "wanted " << i + 1 << " times");
        now += 3s;
        renew_all(lease, now);
    }
}

// Of long ttls as of short ones. Looking at it again never moves the extension that is due anyway.
BOOST_AUTO_TEST_CASE(the_pauses_before_a_key_is_set_again_never_shrink_with_any_ttl)
{
    for (std::chrono::milliseconds const ttl : {10'000ms, 3'600'000ms, 864'000'000ms, 2'591'999'000ms, 2'592'000'000ms}) {
        auto options = ten_seconds();
        options.ttl = ttl;
        options.extend_interval = ttl - ttl / 8;
        options.stop_margin = 0ms;
        auto lease = acquired_lease(options);
        duration last{};
        for (int i = 0; i < 300; ++i) {
            lease.want_recreate(start);
            duration const pause = lease.due() - start;
            BOOST_TEST(ns{pause} >= ns{last}, ttl.count() << " ms, wanted " << i + 1 << " times");
            last = pause;
        }
        BOOST_TEST(ns{last} >= ns{std::min<duration>(1h, *options.extend_interval)});
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::quorum
