// Acquisitions over nodes in memory: what goes out, what comes back, what is undone, and when it is tried again.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <set>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

struct tried {
    error_code ec;
    lease held;
    attempt_report report;
};

struct acquire_world : world {
    explicit acquire_world(std::size_t node_count = 3) : world{node_count} { start(); }

    tried try_once(lock_options const& options = {.ttl = 10s})
    {
        tried t;
        auto story = [&]() -> asio::awaitable<void> {
            redlock::lock resource{*client, "resource", options};
            auto trying = resource.try_acquire(t.report, asio::as_tuple(asio::use_awaitable));
            std::tie(t.ec, t.held) = co_await std::move(trying);
        };
        run(story());
        return t;
    }

    tried wait_for(lock_options const& options)
    {
        tried t;
        auto story = [&]() -> asio::awaitable<void> {
            redlock::lock resource{*client, "resource", options};
            auto waiting = resource.acquire(t.report, asio::as_tuple(asio::use_awaitable));
            std::tie(t.ec, t.held) = co_await std::move(waiting);
        };
        run(story());
        return t;
    }

    void taken_by_foreigner()
    {
        for (auto& n : nodes) n->set("resource", "foreign");
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(acquire_story)

BOOST_DATA_TEST_CASE(works_with_any_number_of_nodes, boost::unit_test::data::xrange(1, 10), node_count)
{
    acquire_world w{static_cast<std::size_t>(node_count)};
    tried t = w.try_once();
    BOOST_REQUIRE(!t.ec);
    BOOST_TEST(t.held.valid());
    w.advance(1ms);
    BOOST_TEST(t.held.nodes_held() == static_cast<std::size_t>(node_count));
    BOOST_TEST(w.keys() == static_cast<std::size_t>(node_count));
    t.held = lease{};
    w.advance(1ms);
    BOOST_TEST(w.keys() == 0u);
}

BOOST_DATA_TEST_CASE(needs_a_majority_and_no_more, boost::unit_test::data::xrange(1, 10), node_count)
{
    auto const n = static_cast<std::size_t>(node_count);
    std::size_t const majority = n / 2 + 1;
    for (std::size_t taken = 0; taken <= n; ++taken) {
        acquire_world w{n};
        for (std::size_t i = 0; i < taken; ++i) w.nodes[i]->set("resource", "foreign");
        tried const t = w.try_once();
        bool const wins = n - taken >= majority;
        BOOST_TEST_CONTEXT(n << " nodes, " << taken << " taken")
        {
            BOOST_TEST(!t.ec == wins);
            if (!wins) BOOST_TEST(t.ec == (taken == n ? errc::contended : errc::split_votes));
        }
    }
}

BOOST_AUTO_TEST_CASE(validity_is_counted_from_before_the_first_byte)
{
    acquire_world w;
    for (auto& n : w.nodes) n->there = 100ms;
    auto const before = virtual_clock::now();
    tried t = w.try_once({.ttl = 10s});
    BOOST_REQUIRE(!t.ec);
    BOOST_TEST((t.held.valid_until() == before + 9'898ms));  // 10 s less 1 % less 2 ms
}

BOOST_AUTO_TEST_CASE(a_majority_that_answers_too_late_is_no_lease_and_is_undone)
{
    acquire_world w;
    for (auto& n : w.nodes) n->there = 950ms;
    tried const t = w.try_once({.ttl = 1s, .node_timeout = 1s});
    BOOST_TEST(t.ec == errc::validity_exhausted);
    BOOST_TEST(!t.held);
    w.advance(1s);
    BOOST_TEST(w.keys() == 0u);
    BOOST_TEST(w.nodes[0]->count(verb::release) == 1u);
}

BOOST_AUTO_TEST_CASE(a_stopped_node_costs_nothing_and_a_stopped_majority_the_node_timeout)
{
    acquire_world w{5};
    w.nodes[4]->stop();
    w.nodes[3]->stop();
    auto const before = virtual_clock::now();
    tried const quick = w.try_once();
    BOOST_TEST(!quick.ec);
    BOOST_TEST((virtual_clock::now() - before < 1ms));

    acquire_world v{5};
    for (std::size_t i = 0; i < 3; ++i) v.nodes[i]->stop();
    auto const start = virtual_clock::now();
    tried const slow = v.try_once({.ttl = 10s});
    BOOST_TEST(slow.ec == errc::no_majority);
    BOOST_TEST((virtual_clock::now() - start == 500ms));
}

BOOST_AUTO_TEST_CASE(a_late_grant_is_undone_behind_the_acquire)
{
    acquire_world w;
    w.nodes[0]->stop();
    w.nodes[1]->stop();
    tried const t = w.try_once({.ttl = 60s});
    BOOST_TEST(t.ec == errc::no_majority);
    w.advance(1s);
    w.nodes[0]->go_on();
    w.nodes[1]->go_on();
    w.advance(10ms);
    BOOST_TEST(w.keys() == 0u);
    BOOST_TEST(w.counters().late_grants_undone == 2u);
    auto const& log = w.nodes[0]->received;
    BOOST_REQUIRE(log.size() == 2u);
    BOOST_TEST((log[0].what == verb::acquire));
    BOOST_TEST((log[1].what == verb::release));
    BOOST_TEST(log[0].value == log[1].value);
}

BOOST_AUTO_TEST_CASE(an_undo_goes_to_every_node_that_did_not_refuse_also_to_those_that_timed_out)
{
    acquire_world w{5};
    w.nodes[0]->set("resource", "foreign");
    w.nodes[1]->set("resource", "foreign");
    w.nodes[2]->stop();
    BOOST_TEST(w.try_once().ec == errc::no_majority);
    w.advance(1ms);
    w.nodes[2]->go_on();
    w.advance(1ms);
    for (std::size_t i = 0; i < 5; ++i) BOOST_TEST(w.nodes[i]->count(verb::release) == (i < 2 ? 0u : 1u));
    BOOST_TEST(w.keys() == 2u);
    BOOST_TEST(*w.nodes[0]->get("resource") == "foreign");
}

BOOST_AUTO_TEST_CASE(what_cannot_be_won_is_undone_before_it_is_clear_what_to_call_it)
{
    // One grant, one refusal, one failure: with the fourth and fifth silent, refusals may or may not exclude a majority.
    acquire_world w{5};
    w.nodes[0]->set("resource", "foreign");
    w.nodes[1]->set("resource", "foreign");
    w.nodes[2]->cut();
    w.nodes[4]->stop();
    std::optional<error_code> result;
    redlock::lock resource{*w.client, "resource", {.ttl = 10s}};
    resource.try_acquire([&](error_code ec, lease) { result = ec; });
    w.advance(1ms);
    BOOST_TEST(!result.has_value());
    BOOST_TEST(!w.nodes[3]->get("resource").has_value());  // given back already
    BOOST_TEST(w.nodes[3]->count(verb::release) == 1u);
    w.advance(500ms);
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(*result == errc::no_majority);
    w.nodes[4]->go_on();
    w.advance(1ms);
    BOOST_TEST(w.keys() == 2u);
}

BOOST_AUTO_TEST_CASE(every_attempt_has_a_value_of_its_own)
{
    acquire_world w;
    w.taken_by_foreigner();
    tried const t = w.wait_for({.ttl = 10s, .max_attempts = 20});
    BOOST_TEST(t.ec == errc::contended);
    BOOST_TEST(t.report.attempts == 20u);
    std::set<std::string> values;
    for (auto const& r : w.nodes[0]->received)
        if (r.what == verb::acquire) values.insert(r.value);
    BOOST_TEST(values.size() == 20u);
}

BOOST_AUTO_TEST_CASE(retries_are_random_growing_and_bounded)
{
    acquire_world w;
    w.taken_by_foreigner();
    tried const t = w.wait_for({.ttl = 10s, .max_attempts = 50, .min_retry_delay = 20ms, .max_retry_delay = 300ms});
    BOOST_TEST(t.ec == errc::contended);
    std::vector<time_point> at;
    for (auto const& r : w.nodes[0]->received)
        if (r.what == verb::acquire) at.push_back(r.at);
    BOOST_REQUIRE(at.size() == 50u);
    std::set<duration> delays;
    for (std::size_t i = 1; i < at.size(); ++i) {
        duration const d = at[i] - at[i - 1];
        BOOST_TEST((d >= 20ms && d <= 301ms));
        delays.insert(d);
    }
    BOOST_TEST(delays.size() > 40u);
    BOOST_TEST((*delays.rbegin() > 100ms));
}

BOOST_AUTO_TEST_CASE(a_free_lock_is_acquired_by_the_next_try)
{
    acquire_world w;
    for (auto& n : w.nodes) n->set("resource", "foreign", 2s);
    auto const before = virtual_clock::now();
    tried t = w.wait_for({.ttl = 10s, .max_retry_delay = 100ms});
    BOOST_TEST(!t.ec);
    auto const waited = virtual_clock::now() - before;
    BOOST_TEST((waited >= 2s && waited < 2s + 200ms));
}

BOOST_AUTO_TEST_CASE(the_deadline_ends_the_waiting_to_the_nanosecond)
{
    acquire_world w;
    w.taken_by_foreigner();
    auto const before = virtual_clock::now();
    tried const t = w.wait_for({.ttl = 10s, .acquire_timeout = 3s});
    BOOST_TEST(t.ec == errc::acquire_timed_out);
    BOOST_TEST((virtual_clock::now() - before == 3s));
    BOOST_TEST(t.report.outcome == errc::contended);  // what the last attempt said
}

BOOST_AUTO_TEST_CASE(the_deadline_also_ends_an_attempt_under_way_and_undoes_it)
{
    acquire_world w;
    for (auto& n : w.nodes) n->there = 300ms;
    auto const before = virtual_clock::now();
    tried const t = w.wait_for({.ttl = 10s, .acquire_timeout = 100ms});
    BOOST_TEST(t.ec == errc::acquire_timed_out_no_majority);
    BOOST_TEST((virtual_clock::now() - before == 100ms));
    w.advance(1s);
    BOOST_TEST(w.keys() == 0u);
}

BOOST_AUTO_TEST_CASE(refusal_and_failure_are_told_apart)
{
    acquire_world w{5};
    w.nodes[0]->set("resource", "foreign");
    w.nodes[1]->stop();
    w.nodes[2]->cut();
    w.nodes[3]->always = detail::reply{vote::failed, errc::server_error, "OOM command not allowed"};
    tried const t = w.try_once();
    BOOST_TEST(t.ec == errc::no_majority);  // one holder on one of five says nothing about the rest
    BOOST_REQUIRE(t.report.nodes.size() == 5u);
    BOOST_TEST((t.report.nodes[0].vote == vote::refused));
    BOOST_TEST((t.report.nodes[2].error == errc::node_unreachable));
    BOOST_TEST((t.report.nodes[3].error == errc::server_error));
    BOOST_TEST(t.report.nodes[3].detail == "OOM command not allowed");
    BOOST_TEST(t.report.nodes[0].node == "node0");
}

BOOST_AUTO_TEST_CASE(a_report_has_the_codes_of_the_status)
{
    acquire_world w{3};
    w.nodes[0]->cut(true, errc::handshake_refused, "WRONGPASS");
    w.nodes[1]->cut(true, errc::node_unsuitable, "it evicts keys");
    auto const same_as_the_status = [&](attempt_report const& report) {
        auto const status = w.client->status();
        for (std::size_t i = 0; i < 2; ++i) {
            BOOST_TEST(report.nodes[i].error == status.nodes[i].last_error);
            BOOST_TEST(report.nodes[i].detail == status.nodes[i].last_error_text);
        }
    };
    same_as_the_status(w.try_once().report);
    same_as_the_status(w.wait_for({.ttl = 10s, .acquire_timeout = 100ms}).report);
    // What no code of this library says is that the node cannot be reached.
    w.nodes[0]->cut(true, asio::error::connection_refused, "Connection refused");
    auto const report = w.try_once().report;
    BOOST_TEST(report.nodes[0].error == errc::node_unreachable);
    BOOST_TEST(report.nodes[0].detail == "Connection refused");
}

BOOST_AUTO_TEST_CASE(a_report_names_the_nodes_that_did_not_answer_in_time)
{
    acquire_world w;
    w.nodes[0]->stop();
    w.nodes[1]->stop();
    tried const t = w.try_once();
    BOOST_TEST(t.ec == errc::no_majority);
    BOOST_TEST((t.report.nodes[0].error == errc::node_timeout));
    BOOST_TEST((t.report.nodes[1].error == errc::node_timeout));
    BOOST_TEST((t.report.nodes[2].vote == vote::granted));
    BOOST_TEST((t.report.elapsed == 500ms));
}

BOOST_AUTO_TEST_CASE(a_vote_that_comes_after_the_majority_makes_the_lease_stand_on_one_node_more)
{
    acquire_world w;
    w.nodes[2]->there = 100ms;
    tried t = w.try_once();
    BOOST_TEST(!t.ec);
    BOOST_TEST(t.held.nodes_held() == 2u);
    w.advance(200ms);
    BOOST_TEST(t.held.nodes_held() == 3u);
}

BOOST_AUTO_TEST_CASE(a_try_that_fails_does_not_block_the_next_one)
{
    // Two of three nodes are slow: the first try gives up with one key set. The second must not meet that key.
    acquire_world w;
    w.nodes[1]->stop();
    w.nodes[2]->stop();
    BOOST_TEST(w.try_once().ec == errc::no_majority);
    w.nodes[1]->go_on();
    w.nodes[2]->go_on();
    BOOST_TEST(!w.try_once().ec);
}

BOOST_AUTO_TEST_CASE(waiting_for_the_first_connection_is_not_a_failure)
{
    world w;
    for (auto& n : w.nodes) n->refuse_connections = false;
    std::optional<error_code> result;
    redlock::lock resource{*w.client, "resource", {.ttl = 10s}};
    resource.try_acquire([&](error_code ec, lease) { result = ec; });
    w.settle();
    BOOST_TEST(!result.has_value());
    w.start();
    w.advance(1ms);
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(!*result);
}

// As behind an address that moves. Left open, the connection would last for ever, and nobody would look where the address leads.
BOOST_AUTO_TEST_CASE(a_second_address_of_one_server_is_left_and_tried_again)
{
    world w;
    w.nodes[0]->of_server = w.nodes[1]->of_server = "one";
    w.start();
    BOOST_TEST(w.nodes[0]->is_connected());
    BOOST_TEST(!w.nodes[1]->is_connected());
    BOOST_TEST(w.nodes[1]->wants_connection());
    auto const refused = w.client->status().nodes[1];
    BOOST_TEST((refused.state == node_state::down));
    BOOST_TEST(refused.last_error == errc::node_duplicate);
    BOOST_TEST(refused.last_error_text.find("the same server as node0") != std::string::npos, refused.last_error_text);

    w.nodes[1]->connect();
    BOOST_TEST((w.client->status().nodes[1].state == node_state::down));
    w.nodes[1]->of_server = "another";
    w.nodes[1]->connect();
    BOOST_TEST((w.client->status().nodes[1].state == node_state::usable));
}

BOOST_AUTO_TEST_CASE(nodes_that_are_down_fail_at_once)
{
    world w;
    for (auto& n : w.nodes) n->refuse_connections = true;
    w.start();
    auto const before = virtual_clock::now();
    auto story = [&]() -> asio::awaitable<error_code> {
        redlock::lock resource{*w.client, "resource", {.ttl = 10s}};
        auto trying = resource.try_acquire(asio::as_tuple(asio::use_awaitable));
        auto [ec, held] = co_await std::move(trying);
        co_return ec;
    };
    BOOST_TEST(w.run(story()) == errc::no_majority);
    BOOST_TEST((virtual_clock::now() == before));
}

BOOST_AUTO_TEST_SUITE_END()
