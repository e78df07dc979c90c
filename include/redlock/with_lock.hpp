// A critical section that is cancelled when its lease is about to be lost.
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

/// Acquires the lock, runs `body(lease&)`, which returns an `asio::awaitable`, and releases on every way out.
///
/// When the lease cannot be kept, the body is cancelled `stop_margin` before its validity ends, or at once if the lease is over before: its current operation
/// completes with `asio::error::operation_aborted`, like any Asio cancellation. The scope cannot end before the body returns: a
/// body that ignores cancellation outlives its lease, which `client::status()` counts as an overrun. After such an end the
/// scope throws a `scope_error`, which says whether the body had returned, and what it threw.
///
/// The result of a body that returned while the lock was held is returned, whatever becomes of the release: one that too few nodes confirm
/// is an event (`event::released`), and the keys expire.
///
/// To acquire the same lock again inside the body, through this client and without `lock_options::owner`, would deadlock. It fails at once with
/// `errc::self_deadlock`, and is counted (`client_counters::self_deadlocks`), if the body itself, or a coroutine that it calls, awaits it. What the body
/// spawns waits for the end of the scope, with a cancellation slot or without one, and so does an acquisition with a time limit of its own
/// (`cancel_after`).
///
/// Preconditions: the calling coroutine has an executor whose context is running.
/// Lifetimes: copies the lock; the body is copied or moved in and lives until the scope ends. g++ before 13 destroys a temporary lambda with
/// captures twice inside a `co_await` expression, so with that compiler a body that is not trivially destructible must be an lvalue,
/// which is copied, or `std::ref` of one that lives as long; anything else does not compile. If the body moves the lease away, it takes
/// over its release.
/// Completion signature: none of its own: it is an `asio::awaitable<T>` with what the body returns; `co_spawn` it to use any other completion token.
/// Executor: the body runs on a strand of the caller's executor, and its cancellation is emitted there.
/// Per-operation cancellation: the caller's cancellations are passed on with their types: while acquiring as in `lock::acquire()`, then to the body, which, as
/// every coroutine, observes `terminal` only unless it says otherwise (`asio::this_coro::reset_cancellation_state`). The release itself is shielded.
/// Errors, thrown as `system_error`: an `acquire_error` with the codes of `lock::acquire()` and what the nodes said: the body did not run;
/// a `scope_error` if the lease was lost (condition `lost`): the body ran; otherwise the body's own exception, after the release. Asio itself throws
/// `operation_aborted` if the calling coroutine was cancelled before it awaited this.
/// Thread safety: as the coroutine that calls it.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(lock resource, Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(std::move(resource), nullptr, std::forward<Body>(body));
}

/// The same, and fills `report` when the lock was acquired, or was not. `report` must live until the scope ends.
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

/// The same, and fills `report` when the lock was acquired, or was not. `report` must live until the scope ends.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(rw_lock resource, attempt_report& report,
                                                                                            Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::writer_of(resource), &report, std::forward<Body>(body));
}

/// The same, and acquires a permit of a semaphore.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(semaphore resource, Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::one_permit_of(resource), nullptr, std::forward<Body>(body));
}

/// The same, and fills `report` when the permit was acquired, or was not. `report` must live until the scope ends.
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

/// The same, and fills `report` when the permits were acquired, or were not. `report` must live until the scope ends.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_lock(semaphore resource, std::uint32_t count,
                                                                                            attempt_report& report, Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::permits_of(resource, count), &report, std::forward<Body>(body));
}

/// Acquires the lock to read, runs `body(lease&)`, and releases on every way out, as `with_lock` does. To acquire the lock inside the body, to read or to
/// write, is to wait for oneself (`errc::self_deadlock`).
///
/// Preconditions: the calling coroutine has an executor whose context is running.
/// Lifetimes: as of `with_lock`: copies the lock; the body is copied or moved in and lives until the scope ends.
/// Completion signature: none of its own: it is an `asio::awaitable<T>` with what the body returns; `co_spawn` it to use any other completion token.
/// Executor: the body runs on a strand of the caller's executor, and its cancellation is emitted there.
/// Per-operation cancellation: as of `with_lock`, and while acquiring as in `rw_lock::acquire_shared()`.
/// Errors, thrown as `system_error`: as of `with_lock`, with the codes of `rw_lock::acquire_shared()`.
/// Thread safety: as the coroutine that calls it.
template <class Body>
    requires detail::scope_body<std::decay_t<Body>, lease&>
[[nodiscard]] asio::awaitable<detail::scope_result_t<std::decay_t<Body>, lease&>> with_shared_lock(rw_lock resource, Body&& body)
{
    detail::require_named_body<Body>();
    return detail::run_with_lock<std::decay_t<Body>>(detail::access::reader_of(resource), nullptr, std::forward<Body>(body));
}

/// The same, and fills `report` when the lock was acquired, or was not. `report` must live until the scope ends.
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
