// Nodes whose wall clocks are set while a client uses them; and lock_delay.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/test/unit_test.hpp>

#include <tuple>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

struct clock_world : world {
    explicit clock_world(std::size_t node_count = 3) : world{node_count} { start(); }

    struct tried {
        error_code ec;
        lease held;
        attempt_report report;
    };

    tried try_once(std::string const& name = "resource", lock_options const& options = plain)
    {
        tried t;
        auto story = [&]() -> asio::awaitable<void> {
            redlock::lock const resource{*client, name, options};
            auto trying = resource.try_acquire(t.report, asio::as_tuple(asio::use_awaitable));
            std::tie(t.ec, t.held) = co_await std::move(trying);
        };
        run(story());
        return t;
    }

    lease acquire(std::string const& name = "resource", lock_options const& options = plain)
    {
        auto t = try_once(name, options);
        BOOST_REQUIRE_MESSAGE(!t.ec, t.ec.message());
        return std::move(t.held);
    }

    // Between the votes of a majority.
    tried try_while_a_clock_is_set(duration by)
    {
        try_once("warm up");
        advance(1ms);
        nodes[2]->there = 10ms;  // the third decides
        nodes[1]->always = detail::reply{vote::failed, errc::server_error, "MISCONF"};
        tried t;
        std::optional<error_code> result;
        redlock::lock const resource{*client, "resource", unwatched};
        resource.try_acquire(t.report, [&](error_code ec, lease l) {
            result = ec;
            t.held = std::move(l);
        });
        advance(1ms);
        BOOST_TEST(!result.has_value());
        nodes[0]->set_clock(by);
        nodes[0]->say_time(virtual_clock::now());
        advance(20ms);
        BOOST_REQUIRE(result.has_value());
        t.ec = *result;
        return t;
    }

    node_status of(std::size_t node) const { return client->status().nodes.at(node); }

    static constexpr lock_options plain{.ttl = 10s, .fencing = false};
    static constexpr lock_options unwatched{.ttl = 10s, .fencing = false, .auto_extend = false};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(clock_story)

BOOST_FIXTURE_TEST_CASE(a_node_whose_clock_was_set_grants_nothing_until_old_leases_are_over, clock_world)
{
    try_once("a");
    advance(1s);
    nodes[0]->set_clock(40s);
    auto seen = try_once("b");  // its answer shows the step
    BOOST_TEST(!seen.ec, "two of three are a majority");
    BOOST_TEST(seen.report.nodes[0].error == errc::node_clock_stepped);
    BOOST_TEST(of(0).clock_steps == 1u);
    BOOST_TEST((of(0).last_clock_step >= 40s));
    BOOST_TEST((of(0).last_clock_step < 41s));
    BOOST_TEST(counters().clock_steps == 1u);
    BOOST_TEST(seen.held.nodes_held() == 2u);
    seen.held = lease{};
    advance(1ms);
    BOOST_TEST(keys() == 0u, "what it granted is given back all the same");

    auto const asked = nodes[0]->count(verb::acquire);
    nodes[1]->always = detail::reply{vote::failed, errc::server_error, "MISCONF"};
    auto const without = try_once("c");
    BOOST_TEST(without.ec == errc::no_majority);
    BOOST_TEST(without.report.nodes[0].error == errc::node_clock_stepped);
    BOOST_TEST(without.report.nodes[0].detail.starts_with("its clock was set forward by about 41 s"), without.report.nodes[0].detail);
    BOOST_TEST(without.report.nodes[0].detail == of(0).clock_text);
    BOOST_TEST(nodes[0]->count(verb::acquire) == asked, "it need not be asked");

    advance(std::chrono::days{31});  // this client's max_ttl is 30 days
    BOOST_TEST(of(0).clock_text == "");
    BOOST_TEST(!try_once("c").ec);
    BOOST_TEST(counters().clock_steps == 1u);
}

BOOST_FIXTURE_TEST_CASE(so_does_one_whose_clock_was_set_back, clock_world)
{
    try_once("a");
    nodes[0]->set_clock(-5s);
    auto const seen = try_once("b", {.ttl = 10s});
    BOOST_TEST(!seen.ec);
    BOOST_TEST(seen.report.nodes[0].error == errc::node_clock_stepped);
    BOOST_TEST(seen.report.nodes[0].detail.starts_with("its clock was set back by about 5"), seen.report.nodes[0].detail);
}

BOOST_FIXTURE_TEST_CASE(a_lease_does_not_count_on_a_node_that_may_have_forgotten_it, clock_world)
{
    lease held = acquire("resource", unwatched);
    auto const until = held.valid_until();
    BOOST_TEST(held.nodes_held() == 3u);
    nodes[0]->set_clock(40s);
    try_once("b");
    BOOST_TEST(held.nodes_held() == 2u);
    BOOST_TEST((held.valid_until() == until));
    nodes[1]->set_clock(3s);
    try_once("b");
    BOOST_TEST(held.valid());
    BOOST_TEST((held.valid_until() <= until - 3s));
    BOOST_TEST((held.valid_until() > until - 4s));
    advance(6s);
    BOOST_TEST(!held.valid());
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_stood_on_steps_is_lost_at_once, clock_world)
{
    lease held = acquire("resource", unwatched);
    std::optional<error_code> lost;
    held.wait_lost([&](error_code ec) { lost = ec; });
    nodes[0]->set_clock(40s);
    nodes[1]->set_clock(40s);
    advance(100ms);
    BOOST_TEST(!lost.has_value(), "nothing was heard of it yet");
    try_once("b");
    BOOST_TEST(!held.valid());
    advance(1ms);
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(*lost == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(the_watchdog_makes_up_for_what_a_step_took, clock_world)
{
    lease held = acquire();
    advance(100ms);
    nodes[0]->set_clock(4s);
    nodes[1]->set_clock(4s);
    try_once("b");
    advance(2ms);
    BOOST_TEST(held.nodes_held() == 3u);
    BOOST_TEST((held.valid_until() > virtual_clock::now() + 9s));
    BOOST_TEST(nodes[0]->count(verb::extend) == 1u, "it did not wait for its turn");
    advance(1min);
    BOOST_TEST(held.valid());
}

// The votes of a round may all be there before a step is seen in the answer to another one.
BOOST_FIXTURE_TEST_CASE(what_was_granted_before_the_step_was_seen_is_gone_earlier, clock_world)
{
    auto const seen = try_while_a_clock_is_set(8s);
    BOOST_TEST(!seen.ec);
    BOOST_TEST((seen.held.valid_until() < virtual_clock::now() + 2s));
}

BOOST_FIXTURE_TEST_CASE(what_a_step_took_whole_is_no_lease, clock_world)
{
    auto const seen = try_while_a_clock_is_set(40s);
    BOOST_TEST(seen.ec == errc::validity_exhausted);
    BOOST_TEST(!seen.held);
    BOOST_TEST(counters().acquired == 1u, "the warm-up");
    advance(20ms);
    BOOST_TEST(keys() == 0u, "it is undone");
}

BOOST_FIXTURE_TEST_CASE(what_was_extended_before_the_step_was_seen_does_not_count, clock_world)
{
    lease held = acquire("resource", unwatched);
    for (auto& n : nodes) n->say_time(virtual_clock::now());
    advance(1s);
    auto const until = held.valid_until();
    for (auto& n : nodes) n->back = 10ms;
    std::optional<error_code> extended;
    held.extend([&](error_code ec) { extended = ec; });
    advance(1ms);  // executed, and not answered yet
    for (auto& n : nodes) {
        n->tells_time = false;
        n->set_clock(3s);
        n->say_time(virtual_clock::now());
    }
    advance(20ms);
    BOOST_REQUIRE(extended.has_value());
    BOOST_TEST(*extended == errc::no_majority);
    BOOST_TEST((held.valid_until() <= until - 3s));
}

BOOST_FIXTURE_TEST_CASE(an_idle_connection_tells_as_well, clock_world)
{
    nodes[1]->say_time(virtual_clock::now());
    nodes[1]->set_clock(1s);
    nodes[1]->say_time(virtual_clock::now());
    BOOST_TEST(of(1).clock_steps == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_reconnect_hides_no_step, clock_world)
{
    try_once("a");
    nodes[0]->cut();
    nodes[0]->set_clock(20s);
    nodes[0]->connect();
    BOOST_TEST(try_once("b").report.nodes[0].error == errc::node_clock_stepped);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_does_not_tell_the_time_votes_as_ever, clock_world)
{
    for (auto& n : nodes) n->tells_time = false;
    try_once("a");
    nodes[0]->set_clock(40s);
    auto const t = try_once("b");
    BOOST_TEST(!t.ec);
    BOOST_TEST((t.report.nodes[0].vote == vote::granted));
    BOOST_TEST(counters().clock_steps == 0u);
}

// A client that was away for long believes nothing that it has not looked up.
BOOST_FIXTURE_TEST_CASE(a_paused_client_blames_no_clock_and_keeps_no_lease, clock_world)
{
    lease held = acquire();
    pause(60s);
    BOOST_TEST(!held.valid());
    advance(1s);
    BOOST_TEST(!try_once("b").ec);
    BOOST_TEST(counters().clock_steps == 0u);
    BOOST_TEST(counters().leases_lost == 1u);
}

BOOST_FIXTURE_TEST_CASE(lock_delay_is_what_nodes_keep_a_lock_beyond_its_validity, clock_world)
{
    auto options = unwatched;
    options.lock_delay = 5s;
    auto const asked = virtual_clock::now();
    lease held = acquire("resource", options);
    BOOST_TEST((nodes[0]->pttl("resource") > 14s));
    BOOST_TEST((held.valid_until() == asked + 10s - 100ms - 2ms));
    auto const extended = held.valid_until();
    std::optional<error_code> done;
    held.extend([&](error_code ec) { done = ec; });
    advance(1ms);
    BOOST_REQUIRE(done.has_value());
    BOOST_TEST((held.valid_until() < extended + 1s));
    BOOST_TEST((nodes[0]->pttl("resource") > 14s));
    advance(11s);
    BOOST_TEST(!held.valid());
    BOOST_TEST(keys() == 3u);
    held = lease{};
    advance(1ms);
    BOOST_TEST(keys() == 0u, "and it does not keep others out for longer");
}

BOOST_FIXTURE_TEST_CASE(a_step_within_grace_takes_nothing, clock_world)
{
    auto options = unwatched;
    options.lock_delay = 5s;
    lease held = acquire("resource", options);
    auto const until = held.valid_until();
    for (auto& n : nodes) n->set_clock(4s);
    try_once("b");
    BOOST_TEST(counters().clock_steps == 3u);
    BOOST_TEST((held.valid_until() == until));
    advance(8s);
    BOOST_TEST(held.valid());
    BOOST_TEST(nodes[0]->get("resource").has_value());
}

BOOST_AUTO_TEST_CASE(a_stepped_node_grants_nothing_for_as_long_as_a_record_allows_leases_of_others)
{
    world w{3, 8'192, nullptr, 30s};
    w.nodes[2]->memory().record->max_ttl = 1h;
    w.start();
    w.nodes[0]->say_time(virtual_clock::now());
    w.nodes[0]->set_clock(5s);
    w.nodes[0]->say_time(virtual_clock::now());
    BOOST_TEST(w.client->status().nodes[0].clock_text != "");
    w.advance(59min);
    BOOST_TEST(w.client->status().nodes[0].clock_text != "");
    w.advance(2min);
    BOOST_TEST(w.client->status().nodes[0].clock_text == "");
}

// Each second their clocks are ahead by so much more.
BOOST_FIXTURE_TEST_CASE(clocks_that_run_as_fast_as_a_lock_allows_for_are_no_steps, clock_world)
{
    auto options = plain;
    options.clock_drift = 0.1;
    int failed = 0;
    for (int second = 0; second < 120; ++second) {
        for (auto& n : nodes) n->set_clock(90ms);
        advance(1s);
        auto t = try_once("resource", options);
        failed += t.ec ? 1 : 0;
        t.held = lease{};
        advance(1ms);
    }
    BOOST_TEST(failed == 0);
    BOOST_TEST(counters().clock_steps == 0u);

    for (auto& n : nodes) n->set_clock(500ms);  // and this is one
    BOOST_TEST(try_once("resource", options).ec == errc::no_majority);
    BOOST_TEST(counters().clock_steps == 3u);
}

BOOST_AUTO_TEST_SUITE_END()
