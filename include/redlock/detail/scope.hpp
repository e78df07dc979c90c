// What runs inside with_lock: acquire, the body beside a watch over the lease, release.
#ifndef REDLOCK_DETAIL_SCOPE_HPP
#define REDLOCK_DETAIL_SCOPE_HPP

#include <redlock/acquire_error.hpp>
#include <redlock/detail/access.hpp>
#include <redlock/detail/run_beside.hpp>
#include <redlock/lock.hpp>
#include <redlock/operation_error.hpp>
#include <redlock/scope_error.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace redlock::detail {

template <class T>
struct awaited;
template <class T, class Executor>
struct awaited<asio::awaitable<T, Executor>> {
    static_assert(
        std::is_same_v<Executor, asio::any_io_executor>,
        "the body has to return an asio::awaitable<T>, whose executor is an asio::any_io_executor: it runs on a strand of its own. A "
        "coroutine with another executor type can be awaited in it by asio::co_spawn");
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

inline bool is_loss(error_code ec) { return ec == condition::lost; }

// Why the body cannot have had the lock to its end. A client that was cancelled extends no more, but the nodes keep the lock for a body that returned in time.
inline error_code loss_of(lease const& held, bool returned) noexcept
{
    error_code const why = held.lost_error();
    return returned && why == errc::client_cancelled && access::is_in_time(held) ? error_code{} : why;
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
    if (not_acquired) throw acquire_error{not_acquired, resource.name(), report};

    // From here on every way leads to the release below: no await may throw because of a cancellation.
    co_await asio::this_coro::throw_if_cancelled(false);
    auto const cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none)
        throw acquire_error{asio::error::operation_aborted, resource.name(), report};  // ~lease hands the release to the client

    auto both = run_beside(strand, run_body(body, held, result, *coroutines), held.wait_lost(asio::bind_executor(strand, asio::deferred)),
                           &is_loss);
    std::exception_ptr const thrown = co_await std::move(both);

    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    access::scope_ended(held);
    if (error_code const lost = loss_of(held, !thrown)) throw scope_error{lost, resource.name(), thrown, access::loss_reason(held)};
    if (access::is_to_release(held)) {
        // That too few nodes confirmed the release, or that the client was cancelled meanwhile, changes nothing for the body's work: event::released has it.
        auto releasing = held.release(asio::use_awaitable);
        try {
            co_await std::move(releasing);
        } catch (operation_error const& e) {
            if (is_loss(e.code()) && e.code() != errc::client_cancelled) throw scope_error{e.code(), resource.name(), thrown, e.reason()};
        }
    }
    if (thrown) std::rethrow_exception(thrown);
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
