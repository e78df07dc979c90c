// Every operation with every kind of completion token, on any executor, with cancellation.
#include "support/world.hpp"

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <functional>
#include <future>

namespace {

using namespace redlock::testing;
using namespace redlock;

struct started_world : world {
    started_world() { start(); }
    redlock::lock resource{*client, "resource", {.ttl = 10s}};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(tokens)

BOOST_FIXTURE_TEST_CASE(deferred_is_the_default, started_world)
{
    auto story = [&]() -> asio::awaitable<void> {
        lease held = co_await resource.acquire();
        BOOST_TEST(held.valid());
        co_await held.extend();
        co_await held.release();
        BOOST_TEST(!held.valid());
        co_await client->drain();
    };
    run(story());
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_deferred_operation_does_nothing_until_it_is_started, started_world)
{
    auto operation = resource.acquire();
    advance(1s);
    BOOST_TEST(nodes[0]->received.empty());
    std::move(operation)(asio::detached);
    settle();
    advance(1ms);
    BOOST_TEST(nodes[0]->count(detail::verb::acquire) == 1u);
}

BOOST_FIXTURE_TEST_CASE(use_awaitable_and_as_tuple, started_world)
{
    auto story = [&]() -> asio::awaitable<void> {
        lease first = co_await resource.acquire(asio::use_awaitable);
        auto [ec, second] = co_await resource.try_acquire(asio::as_tuple(asio::use_awaitable));
        BOOST_TEST(ec == errc::contended);
        BOOST_TEST(!second);
        auto [released] = co_await first.release(asio::as_tuple);
        BOOST_TEST(!released);
    };
    run(story());
}

BOOST_FIXTURE_TEST_CASE(callbacks, started_world)
{
    bool released = false;
    auto keep = std::make_shared<lease>();
    resource.acquire([&](error_code ec, lease got) {
        BOOST_REQUIRE(!ec);
        *keep = std::move(got);
        keep->release([&](error_code ec2) {
            BOOST_TEST(!ec2);
            released = true;
        });
    });
    BOOST_TEST(!released);  // never from inside the initiating call
    advance(10ms);
    BOOST_TEST(released);
}

BOOST_FIXTURE_TEST_CASE(futures, started_world)
{
    std::future<lease> acquired = resource.acquire(asio::use_future);
    advance(1ms);
    lease held = acquired.get();  // completed on Asio's system executor, so it may take a moment

    std::future<lease> refused = resource.try_acquire(asio::use_future);
    advance(1ms);
    BOOST_CHECK_EXCEPTION(static_cast<void>(refused.get()), system_error,
                          [](system_error const& e) { return e.code() == errc::contended; });

    std::future<void> extended = held.extend(asio::use_future);
    std::future<void> lost = held.wait_lost(asio::use_future);
    advance(1ms);
    BOOST_CHECK_NO_THROW(extended.get());
    std::future<void> released = held.release(asio::use_future);
    std::future<void> drained = client->drain(asio::use_future);
    advance(1ms);
    BOOST_CHECK_NO_THROW(released.get());
    BOOST_CHECK_NO_THROW(drained.get());
    BOOST_CHECK_THROW(lost.get(), system_error);
}

BOOST_FIXTURE_TEST_CASE(cancel_after_gives_up_in_time_and_undoes, started_world)
{
    for (auto& n : nodes) n->set("resource", "foreign");
    std::optional<error_code> result;
    // cancel_after uses a real timer; a duration of zero is due at once.
    resource.acquire(asio::cancel_after(std::chrono::milliseconds{0}, [&](error_code ec, lease) { result = ec; }));
    for (int i = 0; i < 1000 && !result; ++i) advance(1ms);
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(*result == asio::error::operation_aborted);
    advance(10ms);
    BOOST_TEST(client->status().waiting == 0u);
}

BOOST_FIXTURE_TEST_CASE(parallel_groups, started_world)
{
    redlock::lock other{*client, "other"};
    std::vector<error_code> results;
    asio::experimental::make_parallel_group(resource.acquire(asio::deferred), other.acquire(asio::deferred))
        .async_wait(asio::experimental::wait_for_all(),
                    asio::bind_executor(context->get_executor(),
                                        [&](std::array<std::size_t, 2>, error_code a, lease, error_code b, lease) { results = {a, b}; }));
    advance(1ms);
    BOOST_REQUIRE(results.size() == 2u);
    BOOST_TEST(!results[0]);
    BOOST_TEST(!results[1]);
}

BOOST_FIXTURE_TEST_CASE(completes_on_the_associated_executor, started_world)
{
    asio::io_context elsewhere;
    bool done = false;
    resource.acquire(asio::bind_executor(elsewhere, [&](error_code, lease) { done = true; }));
    advance(10ms);
    BOOST_TEST(!done);  // only the other context may call it
    elsewhere.run();    // and it knew that there was work outstanding
    BOOST_TEST(done);
}

BOOST_FIXTURE_TEST_CASE(keeps_the_associated_context_running, started_world)
{
    asio::io_context elsewhere;
    resource.acquire(asio::bind_executor(elsewhere, [](error_code, lease) {}));
    BOOST_TEST(elsewhere.poll() == 0u);
    BOOST_TEST(!elsewhere.stopped());
    advance(10ms);
    elsewhere.run();
    BOOST_TEST(elsewhere.stopped());
}

BOOST_FIXTURE_TEST_CASE(an_erased_handler_is_called_on_its_own_executor, started_world)
{
    asio::io_context elsewhere;
    bool done = false;
    asio::any_completion_handler<void(error_code, lease)> erased = asio::bind_executor(elsewhere, [&](error_code, lease) { done = true; });
    resource.acquire(std::move(erased));
    advance(10ms);
    BOOST_TEST(!done);
    elsewhere.run();
    BOOST_TEST(done);
}

BOOST_FIXTURE_TEST_CASE(started_and_completed_on_another_thread, started_world)
{
    asio::thread_pool pool{1};
    std::promise<std::thread::id> called_on;
    std::thread::id pool_thread;
    asio::post(pool, [&] {
        pool_thread = std::this_thread::get_id();
        resource.acquire(asio::bind_executor(pool, [&](error_code, lease) { called_on.set_value(std::this_thread::get_id()); }));
    });
    auto future = called_on.get_future();
    // The other thread has to get as far as to start it: virtual time may pass meanwhile.
    while (future.wait_for(std::chrono::milliseconds{0}) != std::future_status::ready) advance(1ms);
    BOOST_TEST((future.get() == pool_thread));
    BOOST_TEST((pool_thread != std::this_thread::get_id()));
    pool.join();
}

BOOST_FIXTURE_TEST_CASE(operations_on_an_empty_lease, started_world)
{
    auto story = [&]() -> asio::awaitable<void> {
        lease empty;
        auto [extend] = co_await empty.extend(asio::as_tuple);
        auto [release] = co_await empty.release(asio::as_tuple);
        auto [lost] = co_await empty.wait_lost(asio::as_tuple);
        BOOST_TEST(extend == errc::not_held);
        BOOST_TEST(release == errc::not_held);
        BOOST_TEST(lost == errc::not_held);
        BOOST_TEST(!empty.valid());
        BOOST_TEST(empty.name().empty());
        BOOST_TEST(empty.nodes_held() == 0u);
    };
    // The handlers have an executor; without one they would run on the system executor.
    run(story());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cancellation)

namespace {

// Starts an acquisition with a signal to cancel it by.
struct cancellable : started_world {
    asio::cancellation_signal signal;
    std::optional<error_code> result;
    lease got;

    void acquire()
    {
        resource.acquire(asio::bind_cancellation_slot(signal.slot(), [this](error_code ec, lease held) {
            result = ec;
            got = std::move(held);
        }));
    }
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(terminal_completes_at_once_and_undoes_in_the_background, cancellable)
{
    acquire();
    settle();
    advance(20us);  // on their way to the nodes
    signal.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(*result == asio::error::operation_aborted);
    advance(40us);
    BOOST_TEST(keys() == 3u);  // the requests could not be called back
    advance(1ms);
    BOOST_TEST(keys() == 0u);  // but they were undone
    BOOST_TEST(counters().late_grants_undone == 3u);
}

BOOST_FIXTURE_TEST_CASE(partial_is_like_terminal, cancellable)
{
    acquire();
    advance(20us);
    signal.emit(asio::cancellation_type::partial);
    settle();
    BOOST_REQUIRE(result.has_value());
    advance(1ms);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(total_lets_an_attempt_under_way_win, cancellable)
{
    acquire();
    advance(20us);
    signal.emit(asio::cancellation_type::total);
    settle();
    BOOST_TEST(!result.has_value());
    advance(1ms);
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(!*result);
    BOOST_TEST(got.valid());
}

BOOST_FIXTURE_TEST_CASE(total_completes_after_an_attempt_that_failed, cancellable)
{
    for (auto& n : nodes) n->set("resource", "foreign");
    acquire();
    advance(20us);
    signal.emit(asio::cancellation_type::total);
    advance(1ms);
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(*result == asio::error::operation_aborted);
    BOOST_TEST(nodes[0]->count(detail::verb::acquire) == 1u);
}

BOOST_FIXTURE_TEST_CASE(total_completes_at_once_between_two_attempts, cancellable)
{
    for (auto& n : nodes) n->set("resource", "foreign");
    acquire();
    advance(1ms);  // refused: it waits for its retry, 10 ms at least
    signal.emit(asio::cancellation_type::total);
    settle();
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(*result == asio::error::operation_aborted);
}

BOOST_FIXTURE_TEST_CASE(a_release_cannot_be_cancelled_only_its_waiting, cancellable)
{
    acquire();
    advance(1ms);
    std::optional<error_code> released;
    asio::cancellation_signal stop;
    got.release(asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) { released = ec; }));
    settle();
    stop.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_REQUIRE(released.has_value());
    BOOST_TEST(*released == asio::error::operation_aborted);
    advance(1ms);
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(counters().released == 1u);
}

BOOST_FIXTURE_TEST_CASE(an_extension_goes_on_without_its_caller, cancellable)
{
    acquire();
    advance(1s);
    auto const before = got.valid_until();
    std::optional<error_code> extended;
    asio::cancellation_signal stop;
    got.extend(asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) { extended = ec; }));
    settle();
    stop.emit(asio::cancellation_type::total);
    settle();
    BOOST_TEST(!extended.has_value());
    stop.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_REQUIRE(extended.has_value());
    BOOST_TEST(*extended == asio::error::operation_aborted);
    advance(1ms);
    BOOST_TEST((got.valid_until() > before));
}

BOOST_FIXTURE_TEST_CASE(wait_lost_can_be_cancelled_with_every_type, cancellable)
{
    acquire();
    advance(1ms);
    for (auto type : {asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal}) {
        std::optional<error_code> lost;
        asio::cancellation_signal stop;
        got.wait_lost(asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) { lost = ec; }));
        settle();
        BOOST_TEST(!lost.has_value());
        stop.emit(type);
        settle();
        BOOST_REQUIRE(lost.has_value());
        BOOST_TEST(*lost == asio::error::operation_aborted);
    }
    BOOST_TEST(got.valid());
}

BOOST_AUTO_TEST_CASE(cancelling_run_cancels_the_client)
{
    world w;
    asio::cancellation_signal stop;
    std::optional<error_code> ended;
    w.client->run(asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) { ended = ec; }));
    w.settle();
    stop.emit(asio::cancellation_type::total);  // promises that nothing has happened, but every lease would be lost
    w.advance(1s);
    BOOST_TEST(!ended.has_value());
    stop.emit(asio::cancellation_type::terminal);
    w.advance(1s);
    BOOST_REQUIRE(ended.has_value());
    BOOST_TEST(*ended == errc::client_cancelled);
}

BOOST_FIXTURE_TEST_CASE(drain_can_be_cancelled, cancellable)
{
    acquire();
    advance(1ms);
    for (auto& n : nodes) n->stop();
    got = lease{};
    std::optional<error_code> drained;
    asio::cancellation_signal stop;
    client->drain(asio::bind_cancellation_slot(stop.slot(), [&](error_code ec) { drained = ec; }));
    advance(1s);
    BOOST_TEST(!drained.has_value());
    stop.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_REQUIRE(drained.has_value());
    BOOST_TEST(*drained == asio::error::operation_aborted);
}

BOOST_AUTO_TEST_SUITE_END()
