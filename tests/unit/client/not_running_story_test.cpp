// A client whose run() was not called, or is called late: deadlines hold, the errors say it, and nothing keeps the io_context busy.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <tuple>

namespace {

using namespace redlock::testing;
using namespace redlock;

struct operation {
    std::optional<error_code> ec;
    lease held;
    attempt_report report;
    time_point at{};
    asio::cancellation_signal signal;
};

struct idle_world : world {
    operation& acquire(lock_options const& options, std::string name = "resource") { return ask(std::move(name), options, false); }
    operation& try_acquire(lock_options const& options, std::string name = "resource") { return ask(std::move(name), options, true); }

    // Whether time passing is what anybody waits for: an io_context would not end.
    bool waits_for_time() { return !asio::use_service<virtual_time>(*context).empty(); }

    std::vector<std::unique_ptr<operation>> all;

private:
    operation& ask(std::string name, lock_options const& options, bool once)
    {
        all.push_back(std::make_unique<operation>());
        operation& a = *all.back();
        redlock::lock const resource{*client, std::move(name), options};
        auto done = asio::bind_cancellation_slot(a.signal.slot(), [&a](error_code ec, lease held) {
            a.ec = ec;
            a.held = std::move(held);
            a.at = virtual_clock::now();
        });
        once ? resource.try_acquire(a.report, std::move(done)) : resource.acquire(a.report, std::move(done));
        settle();
        return a;
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(not_running_story)

BOOST_FIXTURE_TEST_CASE(a_deadline_holds, idle_world)
{
    auto const begin = virtual_clock::now();
    auto& a = acquire({.ttl = 10s, .acquire_timeout = 2s});
    advance(8s);
    BOOST_TEST_REQUIRE(a.ec.has_value());
    BOOST_TEST(*a.ec == errc::client_not_running);
    BOOST_TEST(*a.ec == condition::not_acquired);
    BOOST_TEST(a.ec->message() == "client.run() was not called, so no node was asked");
    BOOST_TEST((a.at - begin == 2s));
    BOOST_TEST(a.report.outcome == errc::client_not_running);
    for (node_verdict const& v : a.report.nodes) BOOST_TEST(v.error == errc::client_not_running);
}

BOOST_FIXTURE_TEST_CASE(a_deadline_holds_in_the_line_behind_another, idle_world)
{
    auto& first = acquire({.ttl = 10s});
    auto& second = acquire({.ttl = 10s, .acquire_timeout = 2s});
    advance(2s);
    BOOST_TEST_REQUIRE(second.ec.has_value());
    BOOST_TEST(*second.ec == errc::client_not_running);
    BOOST_TEST(!first.ec.has_value());
}

BOOST_FIXTURE_TEST_CASE(an_attempt_ends_after_the_nodes_timeout, idle_world)
{
    auto const begin = virtual_clock::now();
    auto& once = try_acquire({.ttl = 10s, .node_timeout = 300ms});
    BOOST_TEST(!once.ec.has_value());
    advance(1s);
    BOOST_TEST_REQUIRE(once.ec.has_value());
    BOOST_TEST(*once.ec == errc::client_not_running);
    BOOST_TEST((once.at - begin == 300ms));
    auto& few = acquire({.ttl = 10s, .node_timeout = 300ms, .max_attempts = 3});
    advance(10s);
    BOOST_TEST_REQUIRE(few.ec.has_value());
    BOOST_TEST(*few.ec == errc::client_not_running);
    BOOST_TEST(few.report.attempts == 3u);
}

BOOST_FIXTURE_TEST_CASE(an_attempt_of_the_turn_in_which_run_is_called_succeeds, idle_world)
{
    redlock::lock const resource{*client, "resource", {.ttl = 10s}};
    std::optional<error_code> ec;
    lease held;
    resource.try_acquire([&](error_code e, lease l) {
        ec = e;
        held = std::move(l);
    });
    start();
    advance(100ms);
    BOOST_TEST_REQUIRE(ec.has_value());
    BOOST_TEST(!*ec);
    BOOST_TEST(held.valid());
}

BOOST_FIXTURE_TEST_CASE(who_waits_gets_the_lock_when_run_is_called_late, idle_world)
{
    auto& a = acquire({.ttl = 10s});
    auto& b = acquire({.ttl = 10s, .acquire_timeout = 20s});
    advance(10s);
    BOOST_TEST(!a.ec.has_value());
    start();
    advance(2s);
    BOOST_TEST_REQUIRE(a.ec.has_value());
    BOOST_TEST(!*a.ec);
    BOOST_TEST(!b.ec.has_value());
    advance(7s);  // past the ttl: the watchdog runs as usual
    BOOST_TEST(a.held.valid());
    advance(2s);
    BOOST_TEST_REQUIRE(b.ec.has_value());
    BOOST_TEST(*b.ec == errc::acquire_timed_out);
}

BOOST_FIXTURE_TEST_CASE(it_does_not_keep_the_context_busy, idle_world)
{
    BOOST_TEST(!waits_for_time());
    try_acquire({.ttl = 10s});
    BOOST_TEST(waits_for_time());
    advance(1s);
    BOOST_TEST(all.back()->ec.has_value());
    BOOST_TEST(!waits_for_time());
    auto& patient = acquire({.ttl = 10s, .acquire_timeout = 1h});
    advance(10s);
    patient.signal.emit(asio::cancellation_type::terminal);
    advance(1s);
    BOOST_TEST_REQUIRE(patient.ec.has_value());
    BOOST_TEST(!waits_for_time());
    auto& again = acquire({.ttl = 10s, .acquire_timeout = 1s});  // the watchdog comes back
    advance(2s);
    BOOST_TEST(again.ec.has_value());
    BOOST_TEST(!waits_for_time());
}

BOOST_FIXTURE_TEST_CASE(a_client_that_is_cancelled_meanwhile_ends, idle_world)
{
    auto& a = acquire({.ttl = 10s, .acquire_timeout = 1h});
    client->cancel();
    settle();
    BOOST_TEST_REQUIRE(a.ec.has_value());
    BOOST_TEST(*a.ec == errc::client_cancelled);
    BOOST_TEST(!waits_for_time());
    start();
    BOOST_TEST_REQUIRE(run_result.has_value());
    BOOST_TEST(*run_result == errc::client_cancelled);
}

BOOST_FIXTURE_TEST_CASE(what_was_tried_in_vain_does_not_gather, idle_world)
{
    auto& a = acquire({.ttl = 10s});
    advance(2h);
    BOOST_TEST(client->status().counters.no_majority > 5'000u);
    BOOST_TEST(client->status().releases_pending == 0u);
    start();
    advance(2s);
    BOOST_TEST_REQUIRE(a.ec.has_value());
    BOOST_TEST(!*a.ec);
    BOOST_TEST(nodes[0]->count(detail::verb::acquire) < 10u);
}

// The address sanitizer says whether something is left, or used too late.
BOOST_AUTO_TEST_CASE(a_context_is_destroyed_while_somebody_waits)
{
    for (auto const time : {0ms, 1'000ms}) {
        idle_world w;
        w.acquire({.ttl = 10s, .acquire_timeout = 1h});
        w.try_acquire({.ttl = 10s}, "another");
        w.advance(time);
    }
    idle_world unstarted;
    redlock::lock const resource{*unstarted.client, "resource"};
    resource.acquire([](error_code, lease) { BOOST_ERROR("nothing runs any more"); });
}

BOOST_FIXTURE_TEST_CASE(the_status_says_it, idle_world)
{
    for (node_status const& n : client->status().nodes) {
        BOOST_TEST(to_string(n.state) == std::string{"idle"});
        BOOST_TEST(n.last_error == errc::client_not_running);
        BOOST_TEST(n.last_error_text == "client.run() was not called");
    }
    start();
    for (node_status const& n : client->status().nodes) {
        BOOST_TEST((n.state == node_state::usable));
        BOOST_TEST(!n.last_error);
        BOOST_TEST(n.last_error_text == "");
    }
}

BOOST_AUTO_TEST_SUITE_END()
