// A semaphore: a limited number of leases at the same time, on all hosts.
#ifndef REDLOCK_SEMAPHORE_HPP
#define REDLOCK_SEMAPHORE_HPP

#include <redlock/client.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/lease.hpp>
#include <redlock/lock.hpp>
#include <redlock/options.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

namespace redlock {

/// The options of a semaphore: `redlock::semaphore{client, "exports", {.permits = 4}}`.
struct semaphore_options {
    /// How many leases there are at the same time. 1 to 64, the same for all clients; no default.
    std::uint32_t permits{0};

    /// The other options, as for a lock: `{.permits = 4, .lock = {.ttl = 30s}}`. `fencing` must be on, and `owner` empty.
    lock_options lock{};

    friend bool operator==(semaphore_options const&, semaphore_options const&) = default;
};

static_assert(std::is_trivially_copyable_v<semaphore_options> && std::is_trivially_destructible_v<semaphore_options>,
              "g++ 12 destroys non-trivial temporaries twice inside co_await expressions");

/// A cheap handle that consists of a name, a number of permits, options and a client, like `lock`. At most `permits` permits are held at
/// the same time, on all hosts together.
///
/// Permit i of `NAME` is the exclusive lock `NAME#i`, called a slot (`lease::slot()`, `lease::name()`); an attempt takes any free one. So a
/// permit has the guarantees of a lock, including fencing tokens, and can also be taken as a `lock` of that name. A `lock` named `NAME`
/// itself and the permits do not exclude each other.
///
/// The number of permits must be the same for all clients. The nodes keep it, and refuse clients configured with a different number
/// (`errc::permits_differ`). `change_permits()` changes it.
///
/// Not offered:
/// - An order of the leases: tokens are unique and increasing for each slot, but not comparable between slots. A resource must keep the
///   largest token of each slot (docs/semaphores.md).
/// - First come, first served.
/// - Acquiring more permits while holding some: two such clients could wait for each other forever. `acquire(3)` takes all or none.
/// - Permits without tokens: nodes that lost their data could grant more permits than there are.
///
/// For all operations:
///
/// Preconditions: `client::run()` is called, before or during the operation; otherwise as with `lock`, and `available()` as `lock::peek()`.
/// Executor: the handler's associated executor, by default the client's.
/// Lifetimes: the semaphore may be destroyed during an operation, and may outlive the client object; operations then complete with
/// `errc::client_cancelled`.
/// Thread safety: const members may be called from any thread at the same time.
class REDLOCK_API semaphore {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// The keys on the servers are `NAME#0` to `NAME#(permits - 1)`, and `NAME:permits` for the number. Throws `std::invalid_argument` as
    /// the constructor of `lock`, if `permits` is not between 1 and 64, if `lock_options::fencing` is off, or if there is an `owner`.
    semaphore(client const& owner, std::string name, semaphore_options const& options);

    /// A human-readable name.
    std::string_view name() const noexcept { return one_.name(); }

    /// The client's executor.
    executor_type get_executor() const noexcept { return one_.get_executor(); }

    /// The number of permits.
    std::uint32_t permits() const noexcept;

    /// The other options given to the constructor.
    lock_options const& options() const noexcept { return one_.options(); }

    /// Acquires one permit, and waits while others hold all of them. One round trip if permits are free; two if the nodes gave different
    /// slots, as when several clients ask at the same moment.
    ///
    /// Errors: those of `lock::acquire()`, where `errc::contended` and `errc::acquire_timed_out` mean that no permit was free;
    /// `errc::permits_differ`; `errc::self_deadlock` if the body of a `with_lock` awaits this, and its scope holds so many permits that too
    /// few are left.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: as `lock::acquire()`.
    /// Source: docs/proof.md, "At most K".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(CompletionToken&& token = {}) const
    {
        return one_.acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return one_.acquire(report, std::forward<CompletionToken>(token));
    }

    /// Acquires `count` permits, all or none: one lease with several slots and one token. No client holds some of its permits while it
    /// waits for the others, so there is no deadlock; but a client that needs many may wait long while others take single ones.
    ///
    /// Errors: those of `acquire()`; `errc::too_many_permits` if `count` is 0 or larger than `permits()`.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: as `lock::acquire()`.
    /// Source: docs/proof.md, "At most K".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(std::uint32_t count, CompletionToken&& token = {}) const
    {
        return several(count).acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(std::uint32_t count, attempt_report& report, CompletionToken&& token = {}) const
    {
        return several(count).acquire(report, std::forward<CompletionToken>(token));
    }

    /// Makes one attempt to acquire a permit.
    ///
    /// Errors: those of `lock::try_acquire()`; `errc::split_votes` if several clients asked for the last permits at the same moment;
    /// `errc::permits_differ`.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: as `lock::try_acquire()`.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(CompletionToken&& token = {}) const
    {
        return one_.try_acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return one_.try_acquire(report, std::forward<CompletionToken>(token));
    }

    /// The same, and acquires `count` permits, all or none (see `acquire(count)`).
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(std::uint32_t count, CompletionToken&& token = {}) const
    {
        return several(count).try_acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(std::uint32_t count, attempt_report& report, CompletionToken&& token = {}) const
    {
        return several(count).try_acquire(report, std::forward<CompletionToken>(token));
    }

    /// Estimates how many permits are free: the number of slots that are free on a majority of the nodes. Each node answers for another
    /// moment, and the answer may be outdated when you read it: use it for dashboards. To know whether a permit is free, acquire it.
    ///
    /// Errors: `errc::no_majority` (too few nodes answered within `lock_options::node_timeout`), `errc::permits_differ`,
    /// `errc::client_not_running`, `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code, std::size_t)`; the number is 0 on error.
    /// Per-operation cancellation: `terminal` and `partial` complete at once; `total` is ignored.
    template <asio::completion_token_for<void(error_code, std::size_t)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto available(CompletionToken&& token = {}) const
    {
        detail::initiate_available counting{one_.core_, query(), one_.what_};
        return detail::start_operation<void(error_code, std::size_t), CompletionToken>(token, std::move(counting));
    }

private:
    friend struct detail::access;

    lock several(std::uint32_t count) const;
    detail::permit_query query() const;

    lock one_;
};

/// Changes the number of permits of a semaphore, whether it is in use or not. Clients configured with the old number are refused from then
/// on (`errc::permits_differ`).
///
/// Stores the number on all nodes; then acquires all slots above it, which waits for their holders, and releases them. Until it completes,
/// there may be as many holders as the larger number allows; afterwards at most `permits` (1 to 64).
///
/// Preconditions: `client::run()` is called; the context of the calling coroutine's executor is running.
/// Lifetimes: the client object may be destroyed meanwhile, which cancels.
/// Errors: thrown as `operation_error`: `errc::no_majority` (not all nodes have the new number; the text has the first failure),
/// `errc::client_not_running` (no node was asked), `errc::permits_changing` (another change was faster), `errc::client_cancelled`,
/// `asio::error::operation_aborted`, and the errors of `lease::release()`. Thrown as `acquire_error`: the errors of `semaphore::acquire()`:
/// with `errc::acquire_timed_out` the new number is in effect, but slots above it are still held; `errc::self_deadlock` if the scope of a
/// `with_lock` whose body awaits this holds one of these slots. Throws `std::invalid_argument` as the constructor of `semaphore`.
/// Completion signature: none; an `asio::awaitable<void>`. The other overload takes any completion token.
/// Executor: that of the calling coroutine.
/// Per-operation cancellation: the types that the calling coroutine allows, by default `terminal`. Nodes that have the new number keep it:
/// call it again.
/// Thread safety: as the calling coroutine.
/// Source: docs/proof.md, "At most K".
[[nodiscard]] REDLOCK_API asio::awaitable<void> change_permits(client const& owner, std::string name, std::uint32_t permits,
                                                               lock_options options = {});

/// The same, and takes any completion token, on the client's executor. Completion signature: `void(std::exception_ptr)`, with what the
/// coroutine throws.
template <asio::completion_token_for<void(std::exception_ptr)> CompletionToken>
[[nodiscard]] auto change_permits(client const& owner, std::string name, std::uint32_t permits, lock_options const& options,
                                  CompletionToken&& token)
{
    return asio::co_spawn(owner.get_executor(), change_permits(owner, std::move(name), permits, options),
                          std::forward<CompletionToken>(token));
}

}  // namespace redlock

#endif
