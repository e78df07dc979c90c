// Operations on leases with a time limit: asio::cancel_after and asio::cancel_at, in all forms.
#include "support/printing.hpp"

#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
namespace asio = boost::asio;

struct limited_forms {
    testing::simulation world{{.nodes = 3}};
    redlock::client& nodes{world.client()};
    lease empty;
    std::thread::id const here{std::this_thread::get_id()};
    std::vector<error_code> seen;

    auto noting()
    {
        return [this](error_code ec) {
            BOOST_TEST((std::this_thread::get_id() == here));
            seen.push_back(ec);
        };
    }

    // What the coroutine gets that awaits `operation`.
    template <class Operation>
    error_code awaited(Operation operation)
    {
        auto story = [&]() -> asio::awaitable<error_code> {
            try {
                co_await std::move(operation);
            } catch (system_error const& e) {
                BOOST_TEST((std::this_thread::get_id() == here));
                co_return e.code();
            }
            co_return error_code{};
        };
        return world.run(story());
    }
};

struct limits_of_a_held_lease : limited_forms {
    lease held = world.run(redlock::lock{nodes, "a"}.acquire(asio::use_awaitable));

    // Timers of Asio are real ones, also in a simulation.
    error_code last_seen()
    {
        auto const limit = std::chrono::steady_clock::now() + 10s;
        while (seen.empty() && std::chrono::steady_clock::now() < limit) world.run_for(1ms);
        BOOST_TEST_REQUIRE(seen.size() == 1u);
        error_code const result = seen.back();
        seen.clear();
        return result;
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(time_limits)

BOOST_FIXTURE_TEST_CASE(a_deferred_operation_on_an_empty_lease_is_over_when_it_is_started, limited_forms)
{
    auto extending = empty.extend(asio::cancel_after(1h, asio::deferred));
    auto releasing = empty.release(asio::cancel_at(std::chrono::steady_clock::now() + 1h, asio::deferred));
    auto publishing = empty.publish("x", asio::cancel_after(1h));
    auto inheriting = empty.inherited(asio::cancel_after(1h, asio::cancel_after(2h, asio::deferred)));
    auto waiting = empty.wait_lost(asio::as_tuple(asio::cancel_at(std::chrono::steady_clock::now() + 1h)));
    BOOST_TEST(seen.empty());
    std::move(extending)(noting());
    std::move(releasing)(noting());
    std::move(publishing)(noting());
    std::move(inheriting)([note = noting()](error_code ec, published_state) { note(ec); });
    std::move(waiting)([note = noting()](std::tuple<error_code> const& result) { note(std::get<0>(result)); });
    BOOST_TEST(seen == std::vector<error_code>(5, errc::not_held));
}

BOOST_FIXTURE_TEST_CASE(its_handler_is_called_on_its_executor, limited_forms)
{
    asio::io_context other;
    auto const on_other = [&](error_code ec) {
        BOOST_TEST(other.get_executor().running_in_this_thread());
        seen.push_back(ec);
    };
    auto outside = empty.extend(asio::bind_executor(other, asio::cancel_after(1h, asio::deferred)));
    auto inside = empty.extend(asio::cancel_after(1h, asio::bind_executor(other, asio::deferred)));
    auto later = empty.extend(asio::cancel_after(1h, asio::deferred));
    std::move(outside)(on_other);
    std::move(inside)(on_other);
    std::move(later)(asio::bind_executor(other, on_other));
    BOOST_TEST(seen.empty());
    BOOST_TEST(other.run() == 3u);
    BOOST_TEST(seen == std::vector<error_code>(3, errc::not_held));
}

BOOST_FIXTURE_TEST_CASE(coroutines_are_told_on_their_executor, limited_forms)
{
    BOOST_TEST(awaited(empty.extend(asio::cancel_after(1h, asio::deferred))) == errc::not_held);
    BOOST_TEST(awaited(empty.extend(asio::cancel_after(1h))) == errc::not_held);
    BOOST_TEST(awaited(empty.extend(asio::cancel_after(1h, asio::use_awaitable))) == errc::not_held);
    BOOST_TEST(awaited(empty.release(asio::cancel_at(std::chrono::steady_clock::now() + 1h, asio::use_awaitable))) == errc::not_held);
    BOOST_TEST(awaited(empty.inherited(asio::cancel_after(1h, asio::cancel_after(2h, asio::use_awaitable)))) == errc::not_held);
    auto story = [&]() -> asio::awaitable<void> {
        auto within = empty.publish("x", asio::as_tuple(asio::cancel_after(1h, asio::use_awaitable)));
        auto result = co_await std::move(within);
        seen.push_back(std::get<0>(result));
        auto around = empty.downgrade(asio::cancel_after(1h, asio::as_tuple(asio::deferred)));
        auto second = co_await std::move(around);
        seen.push_back(std::get<0>(second));
        BOOST_TEST((std::this_thread::get_id() == here));
    };
    world.run(story());
    BOOST_TEST(seen == std::vector<error_code>(2, errc::not_held));
}

BOOST_FIXTURE_TEST_CASE(futures_and_slots, limited_forms)
{
    std::future<void> later = empty.extend(asio::cancel_after(1h, asio::use_future));
    BOOST_REQUIRE(later.wait_for(10s) == std::future_status::ready);
    BOOST_CHECK_EXCEPTION(later.get(), system_error, [](system_error const& e) { return e.code() == errc::not_held; });
    asio::cancellation_signal stop;
    empty.extend(asio::bind_cancellation_slot(stop.slot(), asio::cancel_after(1h, noting())));
    empty.extend(asio::cancel_after(1h, asio::bind_cancellation_slot(stop.slot(), noting())));
    BOOST_TEST(seen == std::vector<error_code>(2, errc::not_held));
}

// What is moved is the handler alone; the limits are kept for those who start the operation again.
BOOST_FIXTURE_TEST_CASE(a_handler_that_can_only_be_moved, limited_forms)
{
    auto only_moved = [note = noting(), owned = std::make_unique<int>(1)](error_code ec) { note(*owned == 1 ? ec : error_code{}); };
    empty.extend(asio::cancel_after(1h, std::move(only_moved)));
    BOOST_TEST(seen == std::vector<error_code>(1, errc::not_held));
}

BOOST_FIXTURE_TEST_CASE(limits_of_a_lease_that_is_held_are_kept, limits_of_a_held_lease)
{
    held.wait_lost(asio::cancel_after(0ms, noting()));
    BOOST_TEST(last_seen() == asio::error::operation_aborted);
    held.wait_lost(asio::cancel_at(std::chrono::steady_clock::now(), noting()));
    BOOST_TEST(last_seen() == asio::error::operation_aborted);
    held.wait_lost(asio::cancel_after(1h, asio::cancel_after(0ms, noting())));
    BOOST_TEST(last_seen() == asio::error::operation_aborted);
    held.wait_lost(asio::cancel_after(0ms, asio::cancel_after(1h, noting())));
    BOOST_TEST(last_seen() == asio::error::operation_aborted);
    held.wait_lost(asio::bind_executor(world.context(), asio::cancel_after(0ms, noting())));
    BOOST_TEST(last_seen() == asio::error::operation_aborted);
    auto waiting = held.wait_lost(asio::cancel_after(0ms, asio::deferred));
    std::move(waiting)(noting());
    BOOST_TEST(last_seen() == asio::error::operation_aborted);
    held.extend(asio::cancel_after(1h, noting()));
    BOOST_TEST(!last_seen());
    BOOST_TEST(!awaited(held.extend(asio::cancel_after(1h))));
}

// A signal of the caller passes the limit, and the kind of cancellation that a limit asks for is kept: an extension ignores `total`.
BOOST_FIXTURE_TEST_CASE(slots_and_kinds_of_cancellation_pass, limits_of_a_held_lease)
{
    asio::cancellation_signal stop;
    held.wait_lost(asio::bind_cancellation_slot(stop.slot(), asio::cancel_after(1h, noting())));
    world.run_for(1ms);
    BOOST_TEST(seen.empty());
    stop.emit(asio::cancellation_type::terminal);
    BOOST_TEST(last_seen() == asio::error::operation_aborted);
    held.extend(asio::cancel_after(0ms, asio::cancellation_type::total, noting()));
    BOOST_TEST(!last_seen());
}

BOOST_AUTO_TEST_SUITE_END()
