// with_lock and its eight ways out: normal, with a value, with an exception, lost, cancelled by the parent, lost while
// releasing, with a body that ignores cancellation, and with the client cancelled.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>

namespace {

using namespace redlock::testing;
using namespace redlock;

struct scope_world : world {
    scope_world() { start(); }
    redlock::lock resource{*client, "resource", {.ttl = 10s, .stop_margin = 1s}};

    // What a scope ended with; no error when it returned.
    template <class Body>
    error_code outcome_of(Body body, duration limit = 10min)
    {
        auto story = [&]() -> asio::awaitable<error_code> {
            try {
                auto scope = with_lock(resource, body);
                co_await std::move(scope);
            } catch (system_error const& e) {
                co_return e.code();
            }
            co_return error_code{};
        };
        return run(story(), limit);
    }

    // What with_lock throws.
    asio::awaitable<acquire_error> failing(lock_options options)
    {
        auto body = [](lease&) -> asio::awaitable<void> { co_return; };
        redlock::lock const impatient{*client, "resource", options};
        try {
            auto scope = with_lock(impatient, body);
            co_await std::move(scope);
        } catch (acquire_error const& e) {
            co_return e;
        }
        throw std::logic_error{"it was acquired"};
    }

    acquire_error failure_of(lock_options const& options)
    {
        std::optional<acquire_error> result;
        auto story = [&]() -> asio::awaitable<void> {
            auto failed = failing(options);
            result.emplace(co_await std::move(failed));
        };
        run(story());
        return *result;
    }

    void lose_nodes()
    {
        for (std::size_t i : {0u, 1u}) {
            nodes[i]->refuse_connections = true;
            nodes[i]->cut();
        }
        settle();
    }

    void lose_majority()
    {
        nodes[0]->set("resource", "somebody else's", 4s);
        nodes[1]->set("resource", "somebody else's", 4s);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(scope)

BOOST_FIXTURE_TEST_CASE(normal_end_releases, scope_world)
{
    bool held_inside = false;
    auto body = [&](lease& held) -> asio::awaitable<void> {
        co_await sleep(1s);
        held_inside = held.valid() && keys() == 3;
    };
    BOOST_TEST(!outcome_of(body));
    BOOST_TEST(held_inside);
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(counters().released == 1u);
}

// A function that locks what its caller has locked.
BOOST_FIXTURE_TEST_CASE(a_scope_within_a_scope_of_the_same_owner, scope_world)
{
    resource = redlock::lock{*client, "resource", {.ttl = 10s, .owner = new_owner(), .stop_margin = 1s}};
    bool same_token = false;
    bool still_held = false;
    auto body = [&](lease& outer) -> asio::awaitable<void> {
        auto nested = [&](lease& inner) -> asio::awaitable<void> {
            co_await sleep(1s);
            same_token = inner.valid() && inner.token() == outer.token();
        };
        auto scope = with_lock(resource, nested);
        co_await std::move(scope);
        co_await sleep(1s);
        still_held = outer.valid() && keys() == 3;
    };
    BOOST_TEST(!outcome_of(body));
    BOOST_TEST(same_token);
    BOOST_TEST(still_held);
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(counters().nested == 1u);
    BOOST_TEST(counters().released == 1u);
    BOOST_TEST(counters().self_deadlocks == 0u);
}

BOOST_FIXTURE_TEST_CASE(both_scopes_of_an_owner_are_cancelled_with_the_lease, scope_world)
{
    resource = redlock::lock{*client, "resource", {.ttl = 10s, .owner = new_owner(), .stop_margin = 1s}};
    error_code inner_ended;
    auto body = [&](lease&) -> asio::awaitable<void> {
        auto nested = [&](lease&) -> asio::awaitable<void> {
            lose_majority();
            co_await sleep(1h);
        };
        try {
            auto scope = with_lock(resource, nested);
            co_await std::move(scope);
        } catch (system_error const& e) {
            inner_ended = e.code();
        }
        co_await sleep(1h);
    };
    BOOST_TEST(outcome_of(body) == errc::lease_lost);
    BOOST_TEST(inner_ended == errc::lease_lost);
    BOOST_TEST(client->status().leases == 0u);
}

BOOST_FIXTURE_TEST_CASE(returns_the_value_of_the_body, scope_world)
{
    // Neither default-constructible nor copyable.
    struct receipt {
        explicit receipt(int n) : number{n} {}
        receipt(receipt&&) = default;
        receipt& operator=(receipt&&) = default;
        int number;
        std::unique_ptr<int> owned = std::make_unique<int>(1);
    };
    auto body = [](lease&) -> asio::awaitable<receipt> {
        co_await sleep(1s);
        co_return receipt{42};
    };
    auto story = [&]() -> asio::awaitable<int> {
        auto scope = with_lock(resource, body);
        receipt const r = co_await std::move(scope);
        co_return r.number;
    };
    BOOST_TEST(run(story()) == 42);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(keeps_the_exception_of_the_body_and_releases, scope_world)
{
    auto body = [](lease&) -> asio::awaitable<void> {
        co_await sleep(1s);
        throw std::runtime_error{"no funds"};
    };
    auto story = [&]() -> asio::awaitable<void> {
        auto scope = with_lock(resource, body);
        co_await std::move(scope);
    };
    BOOST_CHECK_EXCEPTION(run(story()), std::runtime_error, [](auto const& e) { return std::string{e.what()} == "no funds"; });
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_body_that_throws_before_its_first_await_releases_too, scope_world)
{
    auto body = [](lease&) -> asio::awaitable<void> { throw std::runtime_error{"at once"}; };
    auto story = [&]() -> asio::awaitable<void> {
        auto scope = with_lock(resource, body);
        co_await std::move(scope);
    };
    BOOST_CHECK_THROW(run(story()), std::runtime_error);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(is_cancelled_stop_margin_before_validity_ends, scope_world)
{
    duration left{};
    error_code seen;
    auto body = [&](lease& held) -> asio::awaitable<void> {
        for (auto& n : nodes) n->stop();  // nobody answers from now on
        virtual_timer work{co_await asio::this_coro::executor, 1h};
        auto wait = work.async_wait(asio::as_tuple(asio::use_awaitable));
        std::tie(seen) = co_await std::move(wait);
        left = held.valid_until() - virtual_clock::now();
    };
    BOOST_TEST(outcome_of(body) == errc::lease_lost);
    BOOST_TEST(seen == asio::error::operation_aborted);
    BOOST_TEST((left == 1s));  // to the nanosecond: virtual time
    BOOST_TEST(counters().overruns == 0u);
}

BOOST_FIXTURE_TEST_CASE(is_cancelled_as_soon_as_a_majority_says_that_the_key_is_gone, scope_world)
{
    time_point cancelled{};
    time_point const began = virtual_clock::now();
    auto body = [&](lease&) -> asio::awaitable<void> {
        co_await sleep(1s);
        lose_majority();
        virtual_timer work{co_await asio::this_coro::executor, 1h};
        auto wait = work.async_wait(asio::as_tuple(asio::use_awaitable));
        co_await std::move(wait);
        cancelled = virtual_clock::now();
    };
    BOOST_TEST(outcome_of(body) == errc::lease_lost);
    BOOST_TEST((cancelled - began < 4s));  // the next extension is due after ttl/3
    BOOST_TEST(counters().extensions_lost == 1u);
}

BOOST_FIXTURE_TEST_CASE(lost_beats_the_error_of_the_body, scope_world)
{
    auto body = [&](lease&) -> asio::awaitable<void> {
        lose_majority();
        co_await sleep(1h);  // throws operation_aborted when cancelled
    };
    BOOST_TEST(outcome_of(body) == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(lost_beats_the_value_of_the_body, scope_world)
{
    auto body = [&](lease&) -> asio::awaitable<int> {
        lose_majority();
        virtual_timer work{co_await asio::this_coro::executor, 1h};
        auto wait = work.async_wait(asio::as_tuple(asio::use_awaitable));
        co_await std::move(wait);
        co_return 42;
    };
    BOOST_TEST(outcome_of(body) == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(the_parent_cancels_the_body_and_the_release_is_shielded, scope_world)
{
    asio::cancellation_signal stop;
    std::optional<error_code> seen;
    std::exception_ptr failure;
    auto body = [&](lease&) -> asio::awaitable<void> {
        virtual_timer work{co_await asio::this_coro::executor, 1h};
        auto wait = work.async_wait(asio::as_tuple(asio::use_awaitable));
        auto [ec] = co_await std::move(wait);
        seen = ec;
        throw system_error{ec};
    };
    auto scope = with_lock(resource, body);
    asio::co_spawn(*context, std::move(scope), asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr e) { failure = e; }));
    advance(1s);
    BOOST_TEST(keys() == 3u);
    stop.emit(asio::cancellation_type::terminal);
    advance(1s);
    BOOST_REQUIRE(seen.has_value());
    BOOST_TEST(*seen == asio::error::operation_aborted);
    BOOST_REQUIRE(failure);
    BOOST_CHECK_EXCEPTION(std::rethrow_exception(failure), system_error,
                          [](auto const& e) { return e.code() == asio::error::operation_aborted; });
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(counters().released == 1u);
}

BOOST_FIXTURE_TEST_CASE(the_parent_cancels_while_acquiring, scope_world)
{
    for (auto& n : nodes) n->set("resource", "foreign");
    asio::cancellation_signal stop;
    bool body_ran = false;
    std::exception_ptr failure;
    auto body = [&](lease&) -> asio::awaitable<void> {
        body_ran = true;
        co_return;
    };
    auto scope = with_lock(resource, body);
    asio::co_spawn(*context, std::move(scope), asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr e) { failure = e; }));
    advance(5s);
    stop.emit(asio::cancellation_type::terminal);
    advance(1ms);
    BOOST_REQUIRE(failure);
    BOOST_TEST(!body_ran);
    BOOST_TEST(client->status().waiting == 0u);
    BOOST_TEST(*nodes[0]->get("resource") == "foreign");
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_was_lost_while_releasing_is_an_error, scope_world)
{
    auto body = [&](lease&) -> asio::awaitable<int> {
        lose_majority();  // unnoticed: no extension is due before the end
        co_return 42;
    };
    BOOST_TEST(outcome_of(body) == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(a_release_that_nobody_confirms_is_no_error_of_the_scope, scope_world)
{
    auto body = [&](lease&) -> asio::awaitable<void> {
        nodes[0]->stop();
        nodes[1]->stop();
        co_return;
    };
    BOOST_TEST(!outcome_of(body));
    BOOST_TEST(counters().releases_unconfirmed == 1u);

    auto failing = [&](lease&) -> asio::awaitable<void> {
        nodes[0]->stop();
        nodes[1]->stop();
        throw system_error{asio::error::broken_pipe};
        co_return;
    };
    nodes[0]->go_on();
    nodes[1]->go_on();
    advance(1s);
    BOOST_TEST(outcome_of(failing) == asio::error::broken_pipe);
}

BOOST_FIXTURE_TEST_CASE(a_body_that_ignores_cancellation_is_counted_and_reported, scope_world)
{
    auto body = [&](lease&) -> asio::awaitable<void> {
        for (auto& n : nodes) n->stop();
        co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        co_await sleep(15s);  // ttl is 10 s
    };
    BOOST_TEST(outcome_of(body) == errc::lease_lost);
    auto const c = counters();
    BOOST_TEST(c.overruns == 1u);
    BOOST_TEST((c.max_overrun > 5s && c.max_overrun < 6s));
}

BOOST_FIXTURE_TEST_CASE(a_process_that_was_paused_past_the_ttl_reports_the_loss, scope_world)
{
    auto body = [&](lease&) -> asio::awaitable<int> {
        pause(11s);  // no timer ran, nobody noticed
        co_return 42;
    };
    BOOST_TEST(outcome_of(body) == errc::lease_lost);
    BOOST_TEST(counters().overruns == 1u);
}

BOOST_FIXTURE_TEST_CASE(cancelling_the_client_ends_the_scope_and_still_releases, scope_world)
{
    auto body = [&](lease&) -> asio::awaitable<void> {
        client->cancel();
        co_await sleep(1h);
    };
    BOOST_TEST(outcome_of(body) == errc::client_cancelled);
    advance(1s);
    BOOST_TEST(keys() == 0u);
    BOOST_REQUIRE(run_result.has_value());
    BOOST_TEST(*run_result == errc::client_cancelled);
}

BOOST_FIXTURE_TEST_CASE(a_body_may_release_early, scope_world)
{
    bool went_on = false;
    auto body = [&](lease& held) -> asio::awaitable<void> {
        co_await held.release();
        co_await sleep(1s);  // not cancelled: it gave the lock back itself
        went_on = true;
    };
    BOOST_TEST(!outcome_of(body));
    BOOST_TEST(went_on);
    BOOST_TEST(counters().released == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_body_may_move_the_lease_out, scope_world)
{
    lease kept;
    auto body = [&](lease& held) -> asio::awaitable<void> {
        kept = std::move(held);
        co_return;
    };
    BOOST_TEST(!outcome_of(body));
    BOOST_TEST(kept.valid());
    BOOST_TEST(keys() == 3u);
}

BOOST_FIXTURE_TEST_CASE(max_hold_ends_the_scope_with_its_own_code, scope_world)
{
    resource = redlock::lock{*client, "resource", {.ttl = 10s, .max_hold = 25s}};
    time_point const began = virtual_clock::now();
    time_point cancelled{};
    auto body = [&](lease&) -> asio::awaitable<void> {
        virtual_timer work{co_await asio::this_coro::executor, 1h};
        auto wait = work.async_wait(asio::as_tuple(asio::use_awaitable));
        co_await std::move(wait);
        cancelled = virtual_clock::now();
    };
    BOOST_TEST(outcome_of(body) == errc::max_hold_exceeded);
    BOOST_TEST((cancelled - began >= 25s && cancelled - began < 25s + 1ms));
}

BOOST_FIXTURE_TEST_CASE(scopes_nest, scope_world)
{
    redlock::lock inner{*client, "inner", {.ttl = 10s}};
    auto innermost = [&](lease&) -> asio::awaitable<int> {
        BOOST_TEST(keys() == 6u);
        co_return 7;
    };
    auto body = [&](lease&) -> asio::awaitable<int> {
        auto scope = with_lock(inner, innermost);
        co_return co_await std::move(scope);
    };
    auto story = [&]() -> asio::awaitable<int> {
        auto scope = with_lock(resource, body);
        co_return co_await std::move(scope);
    };
    BOOST_TEST(run(story()) == 7);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(somebody_else_had_the_lock_all_the_time, scope_world)
{
    for (auto& n : nodes) n->set("resource", "somebody else's");
    auto const e = failure_of({.ttl = 10s, .acquire_timeout = 3s});
    BOOST_TEST(e.code() == errc::acquire_timed_out);
    BOOST_TEST(e.code() == condition::contended);
    BOOST_TEST(e.code() == condition::timed_out);
    BOOST_TEST(e.code() != condition::unavailable);
    BOOST_TEST(e.what() == std::string{"resource: the lock was not acquired in time: it is contended"});
    BOOST_TEST(e.last_attempt().outcome == errc::contended);
}

BOOST_FIXTURE_TEST_CASE(too_few_nodes_were_there_to_know_who_has_it, scope_world)
{
    lose_nodes();
    auto const e = failure_of({.ttl = 10s, .acquire_timeout = 3s});
    BOOST_TEST(e.code() == errc::acquire_timed_out_no_majority);
    BOOST_TEST(e.code() == condition::unavailable);
    BOOST_TEST(e.code() == condition::timed_out);
    BOOST_TEST(e.code() != condition::contended);
    BOOST_TEST(e.what() == std::string{"resource: the lock was not acquired in time: too few nodes voted to know who holds it; "
                                       "node0: no usable connection to the node [cut]"});
    BOOST_TEST(e.last_attempt().outcome == errc::no_majority);
    BOOST_TEST_REQUIRE(e.last_attempt().nodes.size() == 3u);
    BOOST_TEST(e.last_attempt().nodes[1].error == errc::node_unreachable);
}

// Who only waits for news of the nodes makes no attempt that could fail.
BOOST_FIXTURE_TEST_CASE(an_outage_while_it_waits_for_somebody_else_is_an_outage, scope_world)
{
    for (auto& n : nodes) n->set("resource", "somebody else's");
    std::optional<acquire_error> e;
    auto story = [&]() -> asio::awaitable<void> { e.emplace(co_await failing({.ttl = 10s, .acquire_timeout = 10s, .poll_interval = 1s})); };
    asio::co_spawn(*context, story(), asio::detached);
    advance(5s);
    lose_nodes();
    advance(5s);
    BOOST_TEST_REQUIRE(e.has_value());
    BOOST_TEST(e->code() == errc::acquire_timed_out_no_majority);
}

BOOST_FIXTURE_TEST_CASE(who_stands_behind_others_learns_it_too, scope_world)
{
    lose_nodes();
    std::optional<acquire_error> second;
    auto story = [&]() -> asio::awaitable<void> { second.emplace(co_await failing({.ttl = 10s, .acquire_timeout = 3s})); };
    redlock::lock const patient{*client, "resource", {.ttl = 10s}};
    patient.acquire(asio::detached);
    asio::co_spawn(*context, story(), asio::detached);
    advance(5s);
    BOOST_TEST_REQUIRE(second.has_value());
    BOOST_TEST(second->code() == errc::acquire_timed_out_no_majority);
    BOOST_TEST(second->last_attempt().attempts == 0u);
    BOOST_TEST(second->last_attempt().outcome == errc::no_majority, "nothing is known of a holder");
    BOOST_TEST(std::string{second->what()}.ends_with("; node0: no usable connection to the node [cut]"), second->what());
}

BOOST_FIXTURE_TEST_CASE(a_scope_of_a_client_that_does_not_run, world)
{
    redlock::lock const resource{*client, "resource", {.ttl = 10s, .acquire_timeout = 1s}};
    bool thrown = false;
    auto body = [](lease&) -> asio::awaitable<void> { co_return; };
    auto story = [&]() -> asio::awaitable<void> {
        try {
            auto scope = with_lock(resource, body);
            co_await std::move(scope);
        } catch (acquire_error const& e) {
            thrown = true;
            BOOST_TEST(e.code() == condition::unavailable);
            BOOST_TEST(e.what() == std::string{"resource: client.run() was not called, so no node was asked"});
            BOOST_TEST(e.last_attempt().outcome == errc::client_not_running);
        }
    };
    run(story());
    BOOST_TEST(thrown);
}

// No node has anything to do with it.
BOOST_AUTO_TEST_CASE(a_scope_that_waits_for_itself_names_no_node)
{
    attempt_report asked_nobody;
    asked_nobody.nodes = {{"node0", vote::pending, {}, {}, {}}};
    acquire_error const e{errc::self_deadlock, "resource", asked_nobody};
    BOOST_TEST(e.what() == "resource: " + error_code{errc::self_deadlock}.message());
}

BOOST_FIXTURE_TEST_CASE(a_scope_fills_a_report, scope_world)
{
    attempt_report report;
    auto body = [&](lease&) -> asio::awaitable<int> {
        BOOST_TEST(!report.outcome);
        co_return static_cast<int>(report.nodes.size());
    };
    auto story = [&]() -> asio::awaitable<int> {
        auto scope = with_lock(resource, report, body);
        co_return co_await std::move(scope);
    };
    BOOST_TEST(run(story()) == 3);
    BOOST_TEST(report.attempts == 1u);
    BOOST_TEST(report.nodes[0].node == "node0");
    BOOST_TEST((report.nodes[0].vote == vote::granted));

    lose_nodes();
    resource = redlock::lock{*client, "resource", {.ttl = 10s, .acquire_timeout = 1s}};
    BOOST_CHECK_THROW(run(story()), acquire_error);
    BOOST_TEST(report.outcome == errc::no_majority);
    BOOST_TEST(report.nodes[1].error == errc::node_unreachable);
}

BOOST_FIXTURE_TEST_CASE(a_body_may_be_referred_to, scope_world)
{
    int calls = 0;
    auto body = [&calls, once = std::make_unique<int>(7)](lease&) mutable -> asio::awaitable<int> {
        ++calls;
        co_return std::exchange(*once, 8);
    };
    auto story = [&]() -> asio::awaitable<int> {
        auto scope = with_lock(resource, std::ref(body));
        co_return co_await std::move(scope);
    };
    BOOST_TEST(run(story()) == 7);
    BOOST_TEST(run(story()) == 8);
    BOOST_TEST(calls == 2);
}

BOOST_FIXTURE_TEST_CASE(the_context_is_destroyed_with_a_scope_inside, scope_world)
{
    auto guard = std::make_shared<int>(0);
    std::weak_ptr<int> const watch = guard;
    auto scope = [&] {
        auto const body = [kept = std::move(guard)](lease&) -> asio::awaitable<void> { co_await sleep(1h); };
        return with_lock(resource, body);
    }();
    asio::co_spawn(*context, std::move(scope), asio::detached);
    advance(1s);
    BOOST_TEST(!watch.expired());
    context.reset();
    BOOST_TEST(watch.expired());  // the frames are gone, and nothing was called
}

BOOST_AUTO_TEST_SUITE_END()
