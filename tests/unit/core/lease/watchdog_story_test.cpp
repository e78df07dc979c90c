// Leases over nodes in memory: extensions and their four outcomes (extend_outcome), loss, and time that plays tricks.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

struct lease_world : world {
    explicit lease_world(std::size_t node_count = 3) : world{node_count} { start(); }

    lease acquire(std::string name = "resource", lock_options const& options = {.ttl = 9s})
    {
        auto story = [&]() -> asio::awaitable<lease> {
            redlock::lock resource{*client, name, options};
            auto acquiring = resource.acquire(asio::use_awaitable);
            co_return co_await std::move(acquiring);
        };
        return run(story());
    }

    // What wait_lost said, once it has.
    std::optional<error_code> lost;
    time_point lost_at{};
    void watch(lease& held)
    {
        held.wait_lost([this](error_code ec) {
            lost = ec;
            lost_at = virtual_clock::now();
        });
    }

    error_code extend(lease& held)
    {
        auto story = [&]() -> asio::awaitable<error_code> {
            auto extending = held.extend(asio::as_tuple(asio::use_awaitable));
            auto [ec] = co_await std::move(extending);
            co_return ec;
        };
        return run(story());
    }

    error_code release(lease& held)
    {
        auto story = [&]() -> asio::awaitable<error_code> {
            auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
            auto [ec] = co_await std::move(releasing);
            co_return ec;
        };
        return run(story());
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(watchdog_story)

BOOST_FIXTURE_TEST_CASE(extends_every_third_of_the_ttl, lease_world)
{
    lease held = acquire();
    advance(60s);
    BOOST_TEST(held.valid());
    BOOST_TEST(held.nodes_held() == 3u);
    BOOST_TEST(nodes[0]->count(verb::extend) >= 19u);
    BOOST_TEST(nodes[0]->count(verb::extend) <= 20u);
    BOOST_TEST(counters().extensions_renewed == nodes[0]->count(verb::extend));
}

BOOST_FIXTURE_TEST_CASE(does_not_extend_when_told_so, lease_world)
{
    lease held = acquire("resource", {.ttl = 9s, .auto_extend = false});
    auto const end = held.valid_until();
    watch(held);
    advance(30s);
    BOOST_TEST(nodes[0]->count(verb::extend) == 0u);
    BOOST_TEST(!held.valid());
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(*lost == errc::lease_lost);
    BOOST_TEST((lost_at == end - 900ms));  // the default stop_margin is ttl/10
}

BOOST_FIXTURE_TEST_CASE(unknown_is_not_lost_and_is_tried_again_while_validity_lasts, lease_world)
{
    lease held = acquire();
    watch(held);
    advance(2900ms);
    nodes[0]->stop();
    nodes[1]->stop();
    advance(3s);  // the extension after 3 s finds no majority
    BOOST_TEST(counters().extensions_unknown >= 1u);
    BOOST_TEST(held.valid());
    nodes[0]->go_on();
    advance(4s);
    BOOST_TEST(held.valid());
    BOOST_TEST(!lost.has_value());
    BOOST_TEST(counters().extensions_lost == 0u);
    BOOST_TEST(counters().extensions_renewed >= 1u);
}

// All connections go silent, and each is replaced when one of its requests has waited for the default stall_timeout of 3 s. The first had a request to
// answer when the extension came.
BOOST_AUTO_TEST_CASE(a_lease_outlives_connections_that_go_silent_one_after_the_other)
{
    for (auto const sooner : {0ms, 100ms, 300ms, 500ms, 700ms, 1'000ms, 2'000ms}) {
        lease_world w;
        lease held = w.acquire("resource", {.ttl = 10s});
        w.watch(held);
        for (auto& n : w.nodes) n->stop();
        auto const replace = [&](std::size_t i) {
            w.nodes[i]->cut(false);
            w.nodes[i]->go_on();
        };
        w.advance(6'333ms - sooner);  // the first extension was sent after 3,333 ms
        replace(0);
        w.advance(100ms);
        w.nodes[0]->connect();
        if (sooner > 100ms) w.advance(sooner - 100ms);
        replace(1);
        replace(2);
        w.advance(100ms);
        w.nodes[1]->connect();
        w.nodes[2]->connect();
        w.advance(1s);
        BOOST_TEST(w.counters().extensions_renewed >= 1u, sooner.count() << " ms sooner");
        w.advance(10s);
        BOOST_TEST(!w.lost.has_value(), sooner.count() << " ms sooner: lost");
    }
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_cannot_be_extended_is_lost_stop_margin_before_its_end, lease_world)
{
    lease held = acquire();
    watch(held);
    auto const end = held.valid_until();
    for (auto& n : nodes) n->stop();
    advance(20s);
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(*lost == errc::lease_lost);
    BOOST_TEST((lost_at == end - 900ms));
    BOOST_TEST(counters().leases_lost == 1u);
    BOOST_TEST(nodes[0]->batches < 60u);  // the tries were bounded
}

BOOST_FIXTURE_TEST_CASE(a_majority_that_is_gone_is_lost_at_once, lease_world)
{
    lease held = acquire();
    watch(held);
    advance(1s);
    nodes[0]->set("resource", "foreign");
    nodes[2]->set("resource", "foreign");
    advance(3s);
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(*lost == errc::lease_lost);
    BOOST_TEST(!held.valid());
    BOOST_TEST(extend(held) == errc::lease_lost);
    BOOST_TEST(release(held) == errc::lease_lost);
    BOOST_TEST(*nodes[0]->get("resource") == "foreign");
}

BOOST_FIXTURE_TEST_CASE(a_minority_that_is_gone_is_no_loss, lease_world)
{
    lease held = acquire();
    watch(held);
    nodes[1]->set("resource", "foreign");
    advance(30s);
    BOOST_TEST(!lost.has_value());
    BOOST_TEST(held.valid());
    BOOST_TEST(held.nodes_held() == 2u);
    BOOST_TEST(!release(held));
    BOOST_TEST(*nodes[1]->get("resource") == "foreign");
}

BOOST_FIXTURE_TEST_CASE(extending_by_hand_needs_a_majority, lease_world)
{
    lease held = acquire("resource", {.ttl = 9s, .auto_extend = false});
    advance(5s);
    auto const before = held.valid_until();
    BOOST_TEST(!extend(held));
    BOOST_TEST((held.valid_until() == before + 5s + 100us));  // from the moment that it was sent
    nodes[0]->stop();
    nodes[1]->stop();
    BOOST_TEST(extend(held) == errc::no_majority);
    BOOST_TEST(held.valid());  // until its old end
}

BOOST_FIXTURE_TEST_CASE(extending_what_somebody_else_holds_never_succeeds, lease_world)
{
    lease held = acquire("resource", {.ttl = 9s, .auto_extend = false});
    for (auto& n : nodes) n->set("resource", "foreign");
    BOOST_TEST(extend(held) == errc::lease_lost);
    BOOST_TEST(!held.valid());
    for (auto& n : nodes) BOOST_TEST(*n->get("resource") == "foreign");
}

BOOST_FIXTURE_TEST_CASE(a_grant_that_comes_after_the_loss_does_not_move_the_end_of_a_lease, lease_world)
{
    nodes[2]->back = 20s;  // granted at once, answered when the lease has ended
    lease held = acquire("resource", {.ttl = 9s, .auto_extend = false});
    watch(held);
    auto const end = held.valid_until();
    advance(10s);
    BOOST_TEST(lost.value() == errc::lease_lost);
    advance(15s);
    BOOST_TEST(nodes[2]->count(verb::acquire) == 1u);
    BOOST_TEST((held.valid_until() == end));
    BOOST_TEST(!held.valid());
}

BOOST_FIXTURE_TEST_CASE(never_extends_after_the_deadline_even_when_a_timer_was_late, lease_world)
{
    lease held = acquire();
    watch(held);
    pause(9s);  // a process that was paused past the end: no timer ran
    BOOST_TEST(!held.valid());  // the clock is believed, not the timer
    advance(1ms);
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(counters().watchdog_late == 1u);
    BOOST_TEST(nodes[0]->count(verb::extend) == 0u);
}

BOOST_FIXTURE_TEST_CASE(an_operation_that_finds_the_end_before_the_timer_gives_the_same_reason, lease_world)
{
    lease limited = acquire("limited", {.ttl = 9s, .max_hold = 2s});
    pause(3s);
    BOOST_TEST(extend(limited) == errc::max_hold_exceeded);
    BOOST_TEST(limited.lost_error() == errc::max_hold_exceeded);
    advance(20s);
    lease usual = acquire();
    pause(30s);
    BOOST_TEST(extend(usual) == errc::lease_lost);
    BOOST_TEST(usual.lost_error() == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(an_answer_after_the_end_does_not_revive_a_lease, lease_world)
{
    lease held = acquire();
    watch(held);
    advance(2900ms);
    for (auto& n : nodes) n->back = 7s;  // extended on the servers, answered when the lease is over
    advance(20s);
    BOOST_TEST(lost.has_value());
    BOOST_TEST(!held.valid());
    BOOST_TEST(release(held) == errc::lease_lost);
    for (auto& n : nodes) n->back = 0s;
    advance(20s);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(extensions_that_are_due_together_share_one_request_a_node, lease_world)
{
    std::vector<lease> held;
    for (int i = 0; i < 50; ++i) {
        held.push_back(acquire("lock" + std::to_string(i)));
        advance(200us);  // acquired over 10 ms: well within what the watchdog takes together
    }
    auto const before = nodes[0]->batches;
    advance(3s);
    BOOST_TEST(nodes[0]->count(verb::extend) == 50u);
    BOOST_TEST(nodes[0]->batches - before == 1u);
}

BOOST_DATA_TEST_CASE_F(lease_world, operations_of_one_turn_share_their_requests, boost::unit_test::data::make({false, true}), fencing)
{
    int acquired = 0;
    for (int i = 0; i < 100; ++i) {
        redlock::lock resource{*client, "lock" + std::to_string(i), {.ttl = 9s, .fencing = fencing}};
        auto keep = std::make_shared<lease>();
        resource.acquire([&acquired, keep](error_code ec, lease got) {
            acquired += !ec;
            *keep = std::move(got);
        });
    }
    advance(1ms);
    BOOST_TEST(acquired == 100);
    BOOST_TEST(nodes[0]->count(verb::acquire) == 100u);
    BOOST_TEST((nodes[0]->received.front().at == nodes[0]->received[99].at));
    std::size_t const messages = fencing ? 4 : 1;  // 32 with tokens in each
    BOOST_TEST(nodes[0]->batches == messages + 1);  // the leases went with their handlers: the releases shared a round, too
    BOOST_TEST(nodes[0]->count(verb::release) == 100u);
}

BOOST_FIXTURE_TEST_CASE(a_released_lease_ends_its_watch, lease_world)
{
    lease held = acquire();
    watch(held);
    advance(1s);
    held = lease{};
    advance(1ms);
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(*lost == asio::error::operation_aborted);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(many_leases_live_for_long, lease_world)
{
    std::vector<lease> held;
    for (int i = 0; i < 500; ++i) held.push_back(acquire("lock" + std::to_string(i)));
    advance(120s);
    for (auto const& l : held) BOOST_TEST(l.valid());
    BOOST_TEST(counters().leases_lost == 0u);
    BOOST_TEST(client->status().leases == 500u);
    held.clear();
    advance(10ms);
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(client->status().leases == 0u);
    BOOST_TEST(client->status().releases_pending == 0u);
}

// The timers of Asio stand still while the machine is suspended, and a lease may be over when it resumes, however far its next timer is ahead.
BOOST_AUTO_TEST_CASE(a_timer_looks_at_the_clock_again_soon_however_far_ahead_it_is)
{
    using traits = detail::boot_wait_traits;
    for (duration const ahead : {duration{1s}, duration{29min}, duration{31min}, duration{24h}, duration{24h * 366}})
        BOOST_TEST((traits::to_wait_duration(ahead) <= 200ms));
    BOOST_TEST((traits::to_wait_duration(duration{3ms}) == 3ms));
    BOOST_TEST((traits::to_wait_duration(traits::idle) == 1h), "without any timer");
    BOOST_TEST((traits::to_wait_duration(traits::idle - 1min) == 1h));
}

BOOST_AUTO_TEST_SUITE_END()
