// What runs inside with_lock: acquire, the body beside a watch over the lease, release.
#ifndef REDLOCK_DETAIL_SCOPE_HPP
#define REDLOCK_DETAIL_SCOPE_HPP

#include <redlock/lock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace redlock::detail {

template <class T>
struct awaited;
template <class T, class Executor>
struct awaited<asio::awaitable<T, Executor>> {
    using type = T;
};

template <class Body, class Argument>
using scope_result_t = typename awaited<std::invoke_result_t<Body&, Argument>>::type;

template <class Body, class Argument>
concept scope_body = std::invocable<Body&, Argument> && requires { typename scope_result_t<Body, Argument>; } &&
                     !std::is_reference_v<scope_result_t<Body, Argument>>;

// co_spawn hands over results by way of default-constructed ones; so the result stays here, in the frame of with_lock.
template <class T>
struct body_result {
    std::optional<T> value;
    T take() { return std::move(*value); }
};
template <>
struct body_result<void> {
    void take() {}
};

template <class Body, class T>
asio::awaitable<void> run_body(Body& body, lease& held, body_result<T>& result)
{
    auto running = std::invoke(body, held);
    if constexpr (std::is_void_v<T>) {
        co_await std::move(running);
    } else {
        result.value.emplace(co_await std::move(running));
    }
}

// The group's rule: the end of the body (an exception_ptr) ends the watch; a lost lease (an error_code) cancels the body; a
// watch that ended because the body released the lease itself cancels nothing.
struct scope_condition {
    asio::cancellation_type_t operator()(std::exception_ptr const&) const noexcept { return asio::cancellation_type::all; }
    asio::cancellation_type_t operator()(error_code ec) const noexcept
    {
        return ec == condition::lost ? asio::cancellation_type::all : asio::cancellation_type::none;
    }
};

// A group forwards one cancellation only. So the parent's first one must be of a kind that every body heeds.
struct cancel_thoroughly {
    asio::cancellation_type_t operator()(asio::cancellation_type_t type) const noexcept
    {
        return type == asio::cancellation_type::none ? type : asio::cancellation_type::all;
    }
};

template <class Body>
asio::awaitable<void> run_scope(lock resource, Body body, asio::any_io_executor caller, body_result<scope_result_t<Body, lease&>>& result)
{
    auto const strand = co_await asio::this_coro::executor;
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    auto acquisition = resource.acquire_for(std::move(caller), strand, asio::use_awaitable);
    lease held = co_await std::move(acquisition);

    // From here on every way leads to the release below: no await may throw because of a cancellation.
    co_await asio::this_coro::throw_if_cancelled(false);
    auto const cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none)
        throw system_error{asio::error::operation_aborted};  // ~lease hands the release to the client
    co_await asio::this_coro::reset_cancellation_state(cancel_thoroughly{});

    auto both = asio::experimental::make_parallel_group(asio::co_spawn(strand, run_body(body, held, result),
                                                                       asio::bind_executor(strand, asio::deferred)),
                                                        held.wait_lost(asio::bind_executor(strand, asio::deferred)));
    auto finished = both.async_wait(scope_condition{}, asio::use_awaitable);
    auto const [order, body_error, watch_error] = co_await std::move(finished);

    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    held.scope_ended();
    error_code const lost = held.lost_error();
    if (lost) throw system_error{lost};

    error_code release_error;
    if (held.held()) {
        auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
        std::tie(release_error) = co_await std::move(releasing);
        if (release_error == condition::lost) throw system_error{release_error};
    }
    if (body_error) std::rethrow_exception(body_error);
    if (release_error) throw system_error{release_error};
}

}  // namespace redlock::detail

#endif
