// A critical section that is cancelled before its lease is lost.
#ifndef REDLOCK_WITH_LOCK_HPP
#define REDLOCK_WITH_LOCK_HPP

#include <redlock/acquire_error.hpp>
#include <redlock/detail/access.hpp>
#include <redlock/detail/scope.hpp>
#include <redlock/lock.hpp>
#include <redlock/rw_lock.hpp>
#include <redlock/scope_error.hpp>
#include <redlock/semaphore.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstdint>
#include <type_traits>
#include <utility>

namespace redlock {

/// Acquires the lock, runs `body(lease&)`, which returns an `asio::awaitable`, and releases the lock on every way out. Returns what the
/// body returns.
///
/// If the lease cannot be kept, the body is cancelled `stop_margin` before the validity ends, or at once if the lease is already over: its
/// current operation completes with `asio::error::operation_aborted`, as with any Asio cancellation. The scope does not end before the body
/// returns: a body that ignores cancellation outlives its lease, which `client::status()` counts as an overrun.
///
/// If the body returned while the lock was held, its result is returned even if too few nodes confirm the release: `event::released` then
/// has an error, and the keys expire.
///
/// In the body, acquiring the same lock again, through this client and without `lock_options::owner`, would deadlock. An `acquire()` or
/// `with_lock()` that the body, or a coroutine that it calls, awaits fails at once with `errc::self_deadlock`
/// (`client_counters::self_deadlocks`); a `try_acquire()` fails with `errc::contended`. Not detected: what the body spawns, the body of a
/// second `with_lock` inside, and acquisitions with a time limit of their own (`cancel_after`); they wait for the end of the scope.
///
/// Preconditions: the context of the calling coroutine's executor is running.
/// Lifetimes: copies the lock. The body is copied or moved in, and lives until the scope ends. g++ before 13 destroys a temporary lambda
/// with captures twice inside a `co_await` expression; with that compiler, a body that is not trivially destructible must be an lvalue,
/// which is copied, or a `std::ref` to one that lives as long; nothing else compiles. If the body moves from the lease, the new owner
/// releases it.
/// Errors, thrown as `system_error`: the first of these that applies. `acquire_error`, with the codes of `lock::acquire()` and the nodes'
/// answers: the body did not run. `scope_error` (condition `lost`): the body ran, but the lease was lost; says whether the body returned,
/// and what it threw. The body's own exception, after the release. Asio itself throws `operation_aborted` if the calling coroutine was
/// cancelled before it awaited this.
/// Completion signature: none; an `asio::awaitable<T>` with the body's result. `co_spawn` it for any other completion token.
/// Executor: the body runs on a strand of the caller's executor; its cancellation is emitted there.
/// Per-operation cancellation: the caller's cancellations are passed on with their types: during the acquisition as in `lock::acquire()`,
/// later to the body, which, as every coroutine, reacts only to `terminal` unless it changes that
/// (`asio::this_coro::reset_cancellation_state`). The release is not cancelled.
/// Thread safety: as the calling coroutine.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(lock resource, Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(std::move(resource), nullptr, std::forward<Body>(body));
}

/// The same, and fills `report` when the acquisition ends. It must live until the scope ends.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(lock resource, attempt_report& report,
                                                                                            Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(std::move(resource), &report, std::forward<Body>(body));
}

/// The same, and acquires a read-write lock to write.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(rw_lock resource, Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::writer_of(resource), nullptr, std::forward<Body>(body));
}

/// The same, and fills `report` when the acquisition ends. It must live until the scope ends.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(rw_lock resource, attempt_report& report,
                                                                                            Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::writer_of(resource), &report, std::forward<Body>(body));
}

/// The same, and acquires one permit of a semaphore.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(semaphore resource, Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::one_permit_of(resource), nullptr, std::forward<Body>(body));
}

/// The same, and fills `report` when the acquisition ends. It must live until the scope ends.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(semaphore resource, attempt_report& report,
                                                                                            Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::one_permit_of(resource), &report, std::forward<Body>(body));
}

/// The same, and acquires `count` permits of a semaphore, all or none.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(semaphore resource, std::uint32_t count,
                                                                                            Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::permits_of(resource, count), nullptr, std::forward<Body>(body));
}

/// The same, and fills `report` when the acquisition ends. It must live until the scope ends.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(semaphore resource, std::uint32_t count,
                                                                                            attempt_report& report, Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::permits_of(resource, count), &report, std::forward<Body>(body));
}

/// The same as `with_lock`, to read: others may read at the same time. In the body, acquiring the lock again, to read or to write, would
/// deadlock (`errc::self_deadlock`).
///
/// Preconditions: the context of the calling coroutine's executor is running.
/// Lifetimes: as with `with_lock`.
/// Errors, thrown as `system_error`: as with `with_lock`, with the codes of `rw_lock::acquire_shared()`.
/// Completion signature: none; an `asio::awaitable<T>` with the body's result. `co_spawn` it for any other completion token.
/// Executor: the body runs on a strand of the caller's executor; its cancellation is emitted there.
/// Per-operation cancellation: as with `with_lock`.
/// Thread safety: as the calling coroutine.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_shared_lock(rw_lock resource, Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::reader_of(resource), nullptr, std::forward<Body>(body));
}

/// The same, and fills `report` when the acquisition ends. It must live until the scope ends.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_shared_lock(rw_lock resource, attempt_report& report,
                                                                                                   Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::reader_of(resource), &report, std::forward<Body>(body));
}

}  // namespace redlock

#endif
