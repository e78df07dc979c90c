// What runs inside with_lock: acquire, the body beside a watch over the lease, release.
#ifndef REDLOCK_DETAIL_SCOPE_HPP
#define REDLOCK_DETAIL_SCOPE_HPP

#include <redlock/acquire_error.hpp>
#include <redlock/detail/access.hpp>
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
#include <boost/asio/strand.hpp>
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

// What the body awaits is known by its slot while it runs, and not after, when something else may have the slot's place in memory.
class body_mark {
public:
    body_mark(scope_coroutines& of, asio::cancellation_slot body) noexcept : of_{of} { of_.body = body; }
    ~body_mark() { of_.body = asio::cancellation_slot{}; }
    body_mark(body_mark const&) = delete;
    body_mark& operator=(body_mark const&) = delete;

private:
    scope_coroutines& of_;
};

template <class Body, class T>
asio::awaitable<void> run_body(Body& body, lease& held, body_result<T>& result, scope_coroutines& coroutines)
{
    auto const own_cancellation = co_await asio::this_coro::cancellation_state;
    body_mark const mark{coroutines, own_cancellation.slot()};
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

// A group forwards one cancellation only. So the parent's first one must be of a kind with which every body cooperates.
struct cancel_thoroughly {
    asio::cancellation_type_t operator()(asio::cancellation_type_t type) const noexcept
    {
        return type == asio::cancellation_type::none ? type : asio::cancellation_type::all;
    }
};

// g++ before 13 destroys a temporary lambda with captures twice inside a co_await expression (GCC's bug 99576), and nobody can tell the type of
// a temporary from that of something that was moved from a name.
template <class Body>
constexpr void require_named_body() noexcept
{
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ < 13
    static_assert(std::is_lvalue_reference_v<Body> || std::is_trivially_destructible_v<Body>,
                  "g++ before 13 destroys a temporary lambda with captures twice inside a co_await expression: give the body a name, "
                  "`auto body = [...](redlock::lease&) -> asio::awaitable<void> {...};`, and pass `body` (which copies it) or "
                  "`std::ref(body)`, neither the lambda itself nor `std::move(body)`");
#endif
}

template <class Body>
asio::awaitable<void> run_scope(lock resource, attempt_report& report, Body body, asio::cancellation_slot asker,
                                body_result<scope_result_t<Body, lease&>>& result)
{
    auto const strand = co_await asio::this_coro::executor;
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    error_code not_acquired;
    lease held;
    auto const coroutines = std::make_shared<scope_coroutines>(asker);
    auto acquisition = access::acquire_for(resource, coroutines, report, asio::as_tuple(asio::use_awaitable));
    std::tie(not_acquired, held) = co_await std::move(acquisition);
    if (not_acquired == condition::not_acquired) throw acquire_error{not_acquired, resource.name(), report};
    if (not_acquired) throw system_error{not_acquired};

    // From here on every way leads to the release below: no await may throw because of a cancellation.
    co_await asio::this_coro::throw_if_cancelled(false);
    auto const cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none)
        throw system_error{asio::error::operation_aborted};  // ~lease hands the release to the client
    co_await asio::this_coro::reset_cancellation_state(cancel_thoroughly{});

    auto both = asio::experimental::make_parallel_group(asio::co_spawn(strand, run_body(body, held, result, *coroutines),
                                                                       asio::bind_executor(strand, asio::deferred)),
                                                        held.wait_lost(asio::bind_executor(strand, asio::deferred)));
    auto finished = both.async_wait(scope_condition{}, asio::use_awaitable);
    auto const [order, body_error, watch_error] = co_await std::move(finished);

    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    access::scope_ended(held);
    error_code const lost = held.lost_error();
    if (lost) throw system_error{lost};

    error_code release_error;
    if (access::is_held(held)) {
        auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
        std::tie(release_error) = co_await std::move(releasing);
        if (release_error == condition::lost) throw system_error{release_error};
    }
    if (body_error) std::rethrow_exception(body_error);
    if (release_error) throw system_error{release_error};
}

template <class Body>
asio::awaitable<scope_result_t<Body, lease&>> run_with_lock(lock resource, attempt_report* report, Body body)
{
    auto const caller = co_await asio::this_coro::executor;
    auto const callers_cancellation = co_await asio::this_coro::cancellation_state;
    attempt_report unseen;
    body_result<scope_result_t<Body, lease&>> result;
    auto scope = asio::co_spawn(asio::make_strand(caller),
                                run_scope<Body>(std::move(resource), report ? *report : unseen, std::move(body),
                                                callers_cancellation.slot(), result),
                                asio::use_awaitable);
    co_await std::move(scope);
    co_return result.take();
}

}  // namespace redlock::detail

#endif
