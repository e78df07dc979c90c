// What acquire() and try_acquire() throw: the lock, the outcome, and the first node's reason.
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
#include <string>

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
    BOOST_TEST(thrown_by([&] { return slots.try_acquire(); }).starts_with("reports: too few nodes answered"));
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
