// A critical section that is cancelled when its lease is about to be lost.
#ifndef REDLOCK_WITH_LOCK_HPP
#define REDLOCK_WITH_LOCK_HPP

#include <redlock/detail/scope.hpp>
#include <redlock/lock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <utility>

namespace redlock {

/// Acquires the lock, runs `body(lease&)`, which returns an `asio::awaitable`, and releases on every way out.
///
/// When the lease cannot be kept, the body is cancelled `stop_margin` before its validity ends: its current operation
/// completes with `asio::error::operation_aborted`, like any Asio cancellation. The scope cannot end before the body returns: a
/// body that ignores cancellation outlives its lease, which `client::status()` counts as an overrun. After such an end the
/// scope throws `errc::lease_lost` whatever the body returned.
///
/// To acquire the same lock again inside the body, through this client and without `lock_options::owner`, is to wait for oneself; with a
/// deadline it ends. `client_counters::self_waits` counts what could be seen of it.
///
/// Preconditions: the calling coroutine has an executor whose context is running.
/// Lifetimes: copies the lock; the body is moved in and lives until the scope ends. With g++ 12, write the body as a named
/// lambda and `std::move` it: that compiler destroys a lambda temporary with captures twice inside a `co_await` expression. If
/// the body moves the lease away, it takes over its release.
/// Completion signature: none of its own: it is an `asio::awaitable<T>` with what the body returns; `co_spawn` it to use any other completion token.
/// Executor: the body runs on a strand of the caller's executor, and its cancellation is emitted there.
/// Per-operation cancellation: the parent's cancellation is forwarded: while acquiring as in `lock::acquire()`, then to the body.
/// The release itself is shielded from it.
/// Errors, thrown as `system_error`: those of `lock::acquire()`; then, the first of these that happened: why the lease was lost
/// (condition `lost`), the body's own exception, the release's error (the body's result is then gone).
/// Thread safety: as the coroutine that calls it.
template <class Body>
    requires detail::scope_body<Body, lease&>
asio::awaitable<detail::scope_result_t<Body, lease&>> with_lock(lock resource, Body body)
{
    auto const caller = co_await asio::this_coro::executor;
    detail::body_result<detail::scope_result_t<Body, lease&>> result;
    auto scope = asio::co_spawn(asio::make_strand(caller), detail::run_scope<Body>(std::move(resource), std::move(body), caller, result),
                                asio::use_awaitable);
    co_await std::move(scope);
    co_return result.take();
}

}  // namespace redlock

#endif
