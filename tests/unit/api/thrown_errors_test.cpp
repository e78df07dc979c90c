// What operations throw: the lock, the outcome, and the first node's reason.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <exception>
#include <future>
#include <memory>
#include <string>
#include <utility>

namespace {

using namespace redlock::testing;
using namespace redlock;

struct throwing_world : world {
    throwing_world()
    {
        start();
        nodes[0]->cut(true, errc::handshake_refused, "WRONGPASS");
        nodes[1]->cut();
    }

    template <class Start>
    std::string thrown_by(Start starts)
    {
        std::string text = "nothing";
        auto story = [&]() -> asio::awaitable<void> {
            try {
                auto operation = starts();
                lease held = co_await std::move(operation);
            } catch (acquire_error const& e) {
                text = e.what();
                BOOST_TEST(e.last_attempt().nodes.size() == 3u);
            }
        };
        run(story());
        return text;
    }

    redlock::lock const resource{*client, "reports", {.ttl = 10s, .acquire_timeout = 1s}};
    std::string const reason = "; node0: the server refused the handshake: wrong credentials, or older than Redis 6 [WRONGPASS]";
    std::string const too_late = "reports: the lock was not acquired in time: too few nodes voted to know who holds it" + reason;
    std::string const tried = "reports: too few nodes voted to know who holds the lock" + reason;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(thrown_errors)

BOOST_FIXTURE_TEST_CASE(coroutines_get_the_lock_the_outcome_and_the_reason, throwing_world)
{
    attempt_report report;
    BOOST_TEST(thrown_by([&] { return resource.acquire(); }) == too_late);
    BOOST_TEST(thrown_by([&] { return resource.acquire(asio::use_awaitable); }) == too_late);
    BOOST_TEST(thrown_by([&] { return resource.acquire(report); }) == too_late);
    BOOST_TEST(report.nodes.size() == 3u);
    BOOST_TEST(thrown_by([&] { return resource.try_acquire(); }) == tried);
    BOOST_TEST(thrown_by([&] { return resource.try_acquire(report, asio::use_awaitable); }) == tried);
}

BOOST_FIXTURE_TEST_CASE(readers_and_permits_do_too, throwing_world)
{
    rw_lock const both{*client, "reports", {.ttl = 10s, .acquire_timeout = 1s}};
    BOOST_TEST(thrown_by([&] { return both.acquire(); }) == too_late);
    BOOST_TEST(thrown_by([&] { return both.acquire_shared(); }) == too_late);
    BOOST_TEST(thrown_by([&] { return both.try_acquire_shared(asio::use_awaitable); }) == tried);
    semaphore const slots{*client, "reports", {.permits = 2, .lock = {.ttl = 10s}}};
    BOOST_TEST(thrown_by([&] { return slots.try_acquire(); }).starts_with("reports: too few nodes voted"));
}

BOOST_FIXTURE_TEST_CASE(futures_do_too, throwing_world)
{
    std::future<lease> later = resource.acquire(asio::use_future);
    advance(2s);
    BOOST_REQUIRE(later.wait_for(10s) == std::future_status::ready);  // it is completed on a thread of Asio
    BOOST_CHECK_EXCEPTION(later.get(), acquire_error, [&](acquire_error const& e) { return e.what() == too_late; });
}

BOOST_FIXTURE_TEST_CASE(other_tokens_get_the_code, throwing_world)
{
    error_code of_tuple, of_deferred;
    auto story = [&]() -> asio::awaitable<void> {
        auto trying = resource.try_acquire(asio::as_tuple(asio::use_awaitable));
        auto [ec, nothing] = co_await std::move(trying);
        of_tuple = ec;
        auto later = resource.try_acquire(asio::deferred);
        auto again = std::move(later)(asio::as_tuple(asio::use_awaitable));
        auto [ec2, nothing2] = co_await std::move(again);
        of_deferred = ec2;
    };
    run(story());
    BOOST_TEST(of_tuple == errc::no_majority);
    BOOST_TEST(of_deferred == errc::no_majority);
}

BOOST_FIXTURE_TEST_CASE(what_is_not_thrown_is_a_lease, throwing_world)
{
    nodes[0]->connect();
    nodes[1]->connect();
    bool held = false;
    auto story = [&]() -> asio::awaitable<void> {
        auto acquiring = resource.acquire();
        lease l = co_await std::move(acquiring);
        held = l.valid();
    };
    run(story());
    BOOST_TEST(held);
}

BOOST_FIXTURE_TEST_CASE(a_cancellation_reaches_the_operation, throwing_world)
{
    asio::cancellation_signal stop;
    error_code got;
    asio::co_spawn(
        *context,
        [&]() -> asio::awaitable<void> {
            auto acquiring = resource.acquire();
            lease l = co_await std::move(acquiring);
        },
        asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr e) {
            try {
                if (e) std::rethrow_exception(e);
            } catch (system_error const& failure) {
                got = failure.code();
            }
        }));
    advance(10ms);
    stop.emit(asio::cancellation_type::terminal);
    advance(1ms);
    BOOST_TEST(got == asio::error::operation_aborted);
}

// A second acquire() of the coroutine that holds the lock: no other client has it.
BOOST_AUTO_TEST_CASE(a_holder_that_is_this_client_is_named)
{
    world w;
    w.start();
    std::string second, tried;
    auto story = [&]() -> asio::awaitable<void> {
        redlock::lock const resource{*w.client, "reports", {.ttl = 10s, .acquire_timeout = 1s}};
        auto acquiring = resource.acquire();
        lease const held = co_await std::move(acquiring);
        try {
            auto again = resource.acquire();
            lease const never = co_await std::move(again);
        } catch (system_error const& e) {
            second = e.what();
        }
        try {
            auto trying = resource.try_acquire();
            lease const never = co_await std::move(trying);
        } catch (system_error const& e) {
            tried = e.what();
        }
    };
    w.run(story());
    BOOST_TEST(second == "reports: the lock was not acquired in time: it is contended; this client holds the lock");
    BOOST_TEST(tried == "reports: another holder has the lock; this client holds the lock");
}

BOOST_AUTO_TEST_SUITE_END()

namespace {

struct holding_world : world {
    holding_world()
    {
        start();
        hold();
    }

    void hold()
    {
        auto acquiring = both.acquire(asio::use_awaitable);
        held = run(std::move(acquiring));
    }

    void go_down(std::size_t node, errc why = errc::node_unreachable, std::string const& words = "cut")
    {
        nodes[node]->refuse_connections = true;
        nodes[node]->cut(true, why, words);
        settle();
    }
    void two_go_down()
    {
        go_down(0, errc::handshake_refused, "WRONGPASS");
        go_down(1);
    }

    // What it says, and its code.
    template <class Start>
    std::string thrown_by(Start starts)
    {
        std::string text = "nothing";
        code = {};
        auto story = [&]() -> asio::awaitable<void> {
            try {
                auto operation = starts();
                co_await std::move(operation);
            } catch (system_error const& e) {
                text = e.what();
                code = e.code();
            }
        };
        run(story());
        return text;
    }

    rw_lock const both{*client, "reports", {.ttl = 10s}};
    lease held;
    error_code code;
    std::string const reason = "; node0: the server refused the handshake: wrong credentials, or older than Redis 6 [WRONGPASS]";
    std::string const too_few = "reports: too few nodes voted to know who holds the lock" + reason;
    std::string const lost = "reports: the lease is lost: the critical section is no longer protected";
    std::string const not_extended = "; node0: no connection: the server refused the handshake: wrong credentials, or older than Redis 6 "
                                     "(WRONGPASS); node1: no connection: cut";
    std::string const keys_are_gone = ": its key is gone, or another holder's";
};

}  // namespace

BOOST_AUTO_TEST_SUITE(errors_of_leases)

BOOST_FIXTURE_TEST_CASE(too_few_nodes_answer, holding_world)
{
    two_go_down();
    BOOST_TEST(thrown_by([&] { return held.extend(); }) == too_few);
    BOOST_TEST(code == errc::no_majority);
    BOOST_TEST(thrown_by([&] { return held.extend(asio::use_awaitable); }) == too_few);
    BOOST_TEST(thrown_by([&] { return held.publish("x"); }) == too_few);
    BOOST_TEST(thrown_by([&] { return held.publish("x", asio::use_awaitable); }) == too_few);
    BOOST_TEST(thrown_by([&] { return held.inherited(); }) == too_few);
    BOOST_TEST(thrown_by([&] { return held.downgrade(); }) == too_few);
    BOOST_TEST(thrown_by([&] { return held.release(); }) ==
               "reports: too few nodes answered the release: the keys expire by themselves" + reason);
    BOOST_TEST(code == errc::release_unconfirmed);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_says_nothing_is_named, holding_world)
{
    nodes[1]->stop();
    nodes[2]->stop();
    BOOST_TEST(thrown_by([&] { return held.extend(); }) == "reports: too few nodes voted to know who holds the lock; node1: no answer");
}

BOOST_FIXTURE_TEST_CASE(the_lease_was_lost, holding_world)
{
    two_go_down();
    std::string const why = thrown_by([&] { return held.wait_lost(); });
    BOOST_TEST(why.starts_with(lost + "; node0"), why);
    BOOST_TEST(why.ends_with("; node1: no connection: cut"), why);
    BOOST_TEST(code == errc::lease_lost);
    BOOST_TEST(thrown_by([&] { return held.wait_lost(asio::use_awaitable); }) == why, "later, too");
    BOOST_TEST(thrown_by([&] { return held.extend(); }) == why);
    BOOST_TEST(thrown_by([&] { return held.publish("x"); }) == why);
    BOOST_TEST(thrown_by([&] { return held.inherited(asio::use_awaitable); }) == why);
    BOOST_TEST(thrown_by([&] { return held.downgrade(); }) == why);
    BOOST_TEST(thrown_by([&] { return held.release(); }) == why);
}

BOOST_FIXTURE_TEST_CASE(a_release_finds_that_the_keys_are_gone, holding_world)
{
    for (auto& n : nodes) n->del("reports");
    std::string const why = thrown_by([&] { return held.release(); });
    BOOST_TEST(why.starts_with(lost + "; node0, node1"), why);
    BOOST_TEST(why.ends_with(keys_are_gone), why);
    hold();
    for (auto& n : nodes) n->del("reports");
    nodes[0]->set("reports", "foreign");
    nodes[1]->set("reports", "foreign");
    std::string const found = thrown_by([&] { return held.extend(); });
    BOOST_TEST(found.starts_with(lost + "; node0, node1"), found);
    BOOST_TEST(found.ends_with(keys_are_gone), found);
}

BOOST_FIXTURE_TEST_CASE(looks_at_a_lock, holding_world)
{
    redlock::lock const resource{*client, "reports", {.ttl = 10s}};
    semaphore const slots{*client, "slots", {.permits = 2, .lock = {.ttl = 10s}}};
    election const candidates{*client, "reports"};
    two_go_down();
    BOOST_TEST(thrown_by([&] { return resource.peek(); }) == too_few);
    BOOST_TEST(thrown_by([&] { return both.peek(asio::use_awaitable); }) == too_few);
    BOOST_TEST(thrown_by([&] { return candidates.leader(); }) == too_few);
    BOOST_TEST(thrown_by([&] { return candidates.leader(asio::use_awaitable); }) == too_few);
    BOOST_TEST(thrown_by([&] { return slots.available(); }) == "slots: too few nodes voted to know who holds the lock" + reason);
    lock_peek const nothing;
    auto waits = [&]() -> asio::awaitable<void> {
        auto changing = resource.wait_changed(nothing, asio::use_awaitable);
        client->cancel();
        co_await std::move(changing);
    };
    BOOST_TEST(thrown_by([&] { return waits(); }) == "reports: the client was cancelled");
}

BOOST_FIXTURE_TEST_CASE(a_number_of_permits_that_not_all_nodes_are_told, holding_world)
{
    auto const change = [&] { return change_permits(*client, "slots", 2, {.ttl = 10s, .acquire_timeout = 1s}); };
    std::string const told = " of 3 nodes could be told the number of permits, and all have to know it: ";
    nodes[2]->stop();
    BOOST_TEST(thrown_by(change) == "slots: too few nodes voted to know who holds the lock; 2" + told + "node2: no answer");
    BOOST_TEST(code == errc::no_majority);
    go_down(0, errc::handshake_refused, "WRONGPASS");
    BOOST_TEST(thrown_by(change) == "slots: too few nodes voted to know who holds the lock; 1" + told + reason.substr(2));
}

BOOST_FIXTURE_TEST_CASE(a_ticket_that_cannot_be_adopted, holding_world)
{
    redlock::lock const resource{*client, "jobs", {.ttl = 10s}};
    auto acquiring = resource.acquire(asio::use_awaitable);
    held = run(std::move(acquiring));
    std::string const ticket = held.detach();
    two_go_down();
    lock_options const soon{.ttl = 10s, .acquire_timeout = 1s};
    BOOST_TEST(thrown_by([&] { return client->adopt(ticket, soon); }) == "jobs: too few nodes voted to know who holds the lock" + reason);
    nodes[0]->connect();
    nodes[1]->connect();
    for (auto& n : nodes) n->del("jobs");
    std::string const why = thrown_by([&] { return client->adopt(ticket, soon, asio::use_awaitable); });
    BOOST_TEST(why.starts_with("jobs: the lease is lost: the critical section is no longer protected; node0, node1"), why);
    BOOST_TEST(why.ends_with(keys_are_gone), why);
    BOOST_TEST(thrown_by([&] { return client->adopt("nonsense"); }) == "this is no ticket of a lease, or not all of one");
}

BOOST_FIXTURE_TEST_CASE(what_has_no_lease_and_what_was_cancelled, holding_world)
{
    lease empty;
    BOOST_TEST(thrown_by([&] { return empty.extend(); }) == "there is no lease: this object is empty or was released");
    auto releasing = held.release(asio::use_awaitable);
    run(std::move(releasing));
    BOOST_TEST(thrown_by([&] { return held.extend(); }) == "reports: there is no lease: this object is empty or was released");
    hold();
    client->cancel();
    BOOST_TEST(thrown_by([&] { return held.wait_lost(); }) == "reports: the client was cancelled");
}

BOOST_FIXTURE_TEST_CASE(futures_of_leases_and_other_tokens, holding_world)
{
    two_go_down();
    std::future<void> later = held.extend(asio::use_future);
    advance(2s);
    BOOST_REQUIRE(later.wait_for(10s) == std::future_status::ready);
    BOOST_CHECK_EXCEPTION(later.get(), system_error, [&](system_error const& e) { return e.what() == too_few; });

    error_code of_tuple, of_deferred, of_callback;
    auto story = [&]() -> asio::awaitable<void> {
        auto extending = held.extend(asio::as_tuple(asio::use_awaitable));
        auto [ec] = co_await std::move(extending);
        of_tuple = ec;
        auto deferred = held.extend(asio::deferred);
        auto again = std::move(deferred)(asio::as_tuple(asio::use_awaitable));
        auto [ec2] = co_await std::move(again);
        of_deferred = ec2;
    };
    run(story());
    held.extend([&](error_code ec) { of_callback = ec; });
    advance(2s);
    BOOST_TEST(of_tuple == errc::no_majority);
    BOOST_TEST(of_deferred == errc::no_majority);
    BOOST_TEST(of_callback == errc::no_majority);
}

// A callback that has a name stays what it is.
BOOST_FIXTURE_TEST_CASE(a_handler_that_is_an_lvalue_is_copied, holding_world)
{
    auto calls = std::make_shared<int>(0);
    auto note = [calls](error_code, lease const&) { ++*calls; };
    redlock::lock const resource{*client, "jobs", {.ttl = 10s}};
    resource.try_acquire(note);
    resource.try_acquire(note);
    advance(1s);
    BOOST_TEST(*calls == 2);
}

BOOST_AUTO_TEST_SUITE_END()
