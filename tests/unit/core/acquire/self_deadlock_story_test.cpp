// Acquisitions that would wait for themselves, and those that only look so.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;

lock_options const usual{.ttl = 10s};

// What a scope gets that waits for itself, and for how long it waits.
struct self_deadlock_world : world {
    self_deadlock_world() { start(); }

    error_code ask_in_scope_of(redlock::lock const& outer, redlock::lock const& inner)
    {
        error_code got;
        auto story = [&]() -> asio::awaitable<void> {
            auto body = [&](lease&) -> asio::awaitable<void> {
                auto again = inner.acquire(asio::as_tuple(asio::use_awaitable));
                auto [ec, nothing] = co_await std::move(again);
                got = ec;
            };
            auto scope = with_lock(outer, body);
            co_await std::move(scope);
        };
        auto const begin = virtual_clock::now();
        run(story());
        if (got) BOOST_TEST((virtual_clock::now() - begin < 1ms));
        advance(100ms);
        return got;
    }
};

// What an owner gets that holds `outer` and acquires `inner`, and what it gets when it has released `outer`.
struct owner_world : self_deadlock_world {
    lock_options of_owner(lock_options options)
    {
        options.owner = owner;
        return options;
    }

    std::optional<error_code> ask_beside(redlock::lock const& outer, redlock::lock const& inner)
    {
        std::optional<error_code> got;
        lease first, second;
        outer.acquire([&](error_code ec, lease l) {
            BOOST_TEST(!ec);
            first = std::move(l);
        });
        advance(100ms);
        BOOST_REQUIRE(first.valid());
        inner.acquire([&](error_code ec, lease l) {
            got = ec;
            second = std::move(l);
        });
        advance(100ms);
        auto const outcome = got;
        BOOST_TEST(outcome.value_or(errc::no_majority) == errc::self_deadlock);
        first = lease{};
        second = lease{};
        advance(1s);
        BOOST_TEST(keys() == 0u);
        return outcome;
    }

    owner_id const owner = new_owner();
};

}  // namespace

BOOST_AUTO_TEST_SUITE(self_deadlock_story)

BOOST_FIXTURE_TEST_CASE(a_scope_that_waits_for_itself_fails_at_once, self_deadlock_world)
{
    auto with_deadline = usual;
    with_deadline.acquire_timeout = 1s;
    for (auto const& options : {usual, with_deadline}) {
        redlock::lock const resource{*client, "resource", options};
        BOOST_TEST(ask_in_scope_of(resource, resource) == errc::self_deadlock);
    }
    BOOST_TEST(counters().self_deadlocks == 2u);
    BOOST_TEST(client->status().waiting == 0u);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(so_does_a_scope_within_a_scope, self_deadlock_world)
{
    redlock::lock const resource{*client, "resource", usual};
    error_code got;
    auto story = [&]() -> asio::awaitable<void> {
        auto body = [&](lease&) -> asio::awaitable<void> {
            auto nothing_to_do = [](lease&) -> asio::awaitable<void> { co_return; };
            try {
                auto nested = with_lock(resource, nothing_to_do);
                co_await std::move(nested);
            } catch (system_error const& e) {
                got = e.code();
            }
        };
        auto scope = with_lock(resource, body);
        co_await std::move(scope);
    };
    run(story());
    BOOST_TEST(got == errc::self_deadlock);
    BOOST_TEST(counters().self_deadlocks == 1u);
}

BOOST_FIXTURE_TEST_CASE(so_does_a_scope_that_asks_for_one_of_its_names, self_deadlock_world)
{
    auto const named = [&](std::vector<std::string> names) { return redlock::lock{*client, std::move(names), usual}; };
    BOOST_TEST(ask_in_scope_of(named({"a", "b"}), named({"b"})) == errc::self_deadlock);
    BOOST_TEST(ask_in_scope_of(named({"a", "b"}), named({"b", "c"})) == errc::self_deadlock);
    BOOST_TEST(ask_in_scope_of(named({"b"}), named({"a", "b"})) == errc::self_deadlock);
    BOOST_TEST(!ask_in_scope_of(named({"a", "b"}), named({"c"})));
    BOOST_TEST(!ask_in_scope_of(named({"a", "b"}), named({"c", "d"})));
    BOOST_TEST(counters().self_deadlocks == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_scope_that_waits_for_itself_does_not_make_its_attempts_first, self_deadlock_world)
{
    auto some_attempts = usual;
    some_attempts.max_attempts = 3;
    BOOST_TEST(ask_in_scope_of({*client, "resource", usual}, {*client, "resource", some_attempts}) == errc::self_deadlock);
    BOOST_TEST(counters().contended == 0u);
}

BOOST_FIXTURE_TEST_CASE(so_does_what_the_body_calls, self_deadlock_world)
{
    redlock::lock const resource{*client, "resource", usual};
    error_code got;
    auto called = [&]() -> asio::awaitable<void> {
        auto again = resource.acquire(asio::redirect_error(asio::use_awaitable, got));
        co_await std::move(again);
    };
    auto story = [&]() -> asio::awaitable<void> {
        auto body = [&](lease&) -> asio::awaitable<void> {
            auto calling = called();
            co_await std::move(calling);
        };
        auto scope = with_lock(resource, body);
        co_await std::move(scope);
    };
    run(story());
    BOOST_TEST(got == errc::self_deadlock);
}

// It may wait for the end of the scope that has started it, however it can be cancelled.
BOOST_FIXTURE_TEST_CASE(the_outcome_does_not_depend_on_a_cancellation_slot, self_deadlock_world)
{
    redlock::lock const resource{*client, "resource", usual};
    asio::cancellation_signal stop, stop_too;
    std::vector<error_code> got;
    auto acquires = [&]() -> asio::awaitable<void> {
        auto again = resource.acquire(asio::as_tuple(asio::use_awaitable));
        auto [ec, held] = co_await std::move(again);
        got.push_back(ec);
    };
    auto acquires_in_a_scope = [&]() -> asio::awaitable<void> {
        auto nothing_to_do = [](lease&) -> asio::awaitable<void> { co_return; };
        auto scope = with_lock(resource, nothing_to_do);
        co_await std::move(scope);
        got.push_back({});
    };
    auto acquires_with_a_limit = [&]() -> asio::awaitable<void> {
        auto again = resource.acquire(asio::cancel_after(1h, asio::as_tuple(asio::use_awaitable)));
        auto [ec, held] = co_await std::move(again);
        got.push_back(ec);
    };
    auto story = [&]() -> asio::awaitable<void> {
        auto body = [&](lease&) -> asio::awaitable<void> {
            auto const executor = co_await asio::this_coro::executor;
            asio::co_spawn(executor, acquires(), asio::detached);
            asio::co_spawn(executor, acquires(), asio::bind_cancellation_slot(stop.slot(), asio::detached));
            asio::co_spawn(executor, acquires_in_a_scope(), asio::detached);
            asio::co_spawn(executor, acquires_with_a_limit(), asio::detached);
            asio::co_spawn(executor, acquires_in_a_scope(), asio::bind_cancellation_slot(stop_too.slot(), asio::detached));
            co_await sleep(1s);
            BOOST_TEST(got.empty());
        };
        auto scope = with_lock(resource, body);
        co_await std::move(scope);
    };
    run(story());
    advance(100ms);
    BOOST_TEST(got.size() == 5u);
    for (auto const& ec : got) BOOST_TEST(!ec);
    BOOST_TEST(counters().self_deadlocks == 0u);
}

BOOST_FIXTURE_TEST_CASE(an_owner_whose_lease_cannot_be_shared_is_told_so, owner_world)
{
    auto const named = [&](std::vector<std::string> names, lock_options options) {
        return redlock::lock{*client, std::move(names), of_owner(options)};
    };
    auto unfenced = usual;
    unfenced.fencing = false;
    auto some_attempts = usual;
    some_attempts.max_attempts = 3;
    ask_beside(named({"x"}, unfenced), named({"x"}, usual));
    ask_beside(named({"x"}, unfenced), named({"x"}, some_attempts));
    ask_beside(named({"a"}, usual), named({"a", "b"}, usual));
    ask_beside(named({"a", "b"}, usual), named({"b"}, usual));
    ask_beside(named({"a", "b"}, usual), named({"b", "c"}, usual));
    BOOST_TEST(counters().self_deadlocks == 5u);
    BOOST_TEST(client->status().waiting == 0u);
}

// These are no deadlocks.
BOOST_FIXTURE_TEST_CASE(an_owner_waits_for_a_lease_of_its_own_that_ends_by_itself, owner_world)
{
    auto unfenced = of_owner(usual);
    unfenced.fencing = false;
    for (bool const has_max_hold : {false, true}) {
        auto ends = unfenced;
        if (has_max_hold) ends.max_hold = 30s;
        else ends.auto_extend = false;
        redlock::lock const outer{*client, "x", ends};
        redlock::lock const inner{*client, "x", of_owner(usual)};
        lease first, second;
        outer.acquire([&](error_code, lease l) { first = std::move(l); });
        advance(100ms);
        BOOST_REQUIRE(first.valid());
        inner.acquire([&](error_code, lease l) { second = std::move(l); });
        advance(100ms);
        BOOST_TEST(!second);
        advance(60s);
        BOOST_TEST(!first.valid());
        BOOST_TEST(second.valid());
        first = lease{};
        second = lease{};
        advance(1s);
    }
    BOOST_TEST(counters().self_deadlocks == 0u);
}

// It may wait for the end of the scope that has started it.
BOOST_FIXTURE_TEST_CASE(what_a_scope_does_not_await_may_wait_for_it, self_deadlock_world)
{
    redlock::lock const resource{*client, "resource", usual};
    std::optional<error_code> got;
    auto later = [&]() -> asio::awaitable<void> {
        auto again = resource.acquire(asio::as_tuple(asio::use_awaitable));
        auto [ec, held] = co_await std::move(again);
        got = ec;
    };
    auto story = [&]() -> asio::awaitable<void> {
        auto body = [&](lease&) -> asio::awaitable<void> {
            asio::co_spawn(co_await asio::this_coro::executor, later(), asio::detached);
            co_await sleep(1s);
            BOOST_TEST(!got.has_value());
        };
        auto scope = with_lock(resource, body);
        co_await std::move(scope);
    };
    run(story());
    advance(100ms);
    BOOST_REQUIRE(got.has_value());
    BOOST_TEST(!*got);
    BOOST_TEST(counters().self_deadlocks == 0u);
}

// Whoever does not wait is told as ever, and what was given back can be had again.
BOOST_FIXTURE_TEST_CASE(who_asks_in_a_scope_and_does_not_wait_for_it_is_told_so, self_deadlock_world)
{
    redlock::lock const resource{*client, "resource", usual};
    error_code tried, again;
    auto story = [&]() -> asio::awaitable<void> {
        auto body = [&](lease& held) -> asio::awaitable<void> {
            auto trying = resource.try_acquire(asio::as_tuple(asio::use_awaitable));
            auto [ec, nothing] = co_await std::move(trying);
            tried = ec;
            auto releasing = held.release(asio::use_awaitable);
            co_await std::move(releasing);
            auto acquiring = resource.acquire(asio::as_tuple(asio::use_awaitable));
            auto [ec2, got] = co_await std::move(acquiring);
            again = ec2;
        };
        auto scope = with_lock(resource, body);
        co_await std::move(scope);
    };
    run(story());
    BOOST_TEST(tried == errc::contended);
    BOOST_TEST(!again);
    BOOST_TEST(counters().self_deadlocks == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
