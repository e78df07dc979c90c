// A semaphore: at most so many at the same time, on all hosts.
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
    /// How many leases there are at the same time. 1 to 64, and the same for all clients. It has no default.
    std::uint32_t permits{0};

    /// The other options, as of a lock: `{.permits = 4, .lock = {.ttl = 30s}}`. `fencing` must be on, and there can be no `owner`.
    lock_options lock{};

    friend bool operator==(semaphore_options const&, semaphore_options const&) = default;
};

static_assert(std::is_trivially_copyable_v<semaphore_options> && std::is_trivially_destructible_v<semaphore_options>,
              "g++ 12 destroys non-trivial temporaries twice inside co_await expressions");

/// A cheap handle that consists of a name, a number of permits, options, and a client, like `lock`. At most as many leases as there are permits are held
/// at the same time, by whatever hosts.
///
/// A permit is a lock of its own: permit i of `NAME` is the exclusive lock `NAME#i`, called a slot (`lease::slot()`, `lease::name()`), and an attempt
/// takes whichever is free. So each permit survives what a lock survives, has fencing tokens, and can also be taken as a `lock` of that name. A `lock` of the name
/// `NAME` itself excludes no permit, and is excluded by none.
///
/// The number of permits must be the same for all clients. The nodes keep it, and refuse clients that say another one (`errc::permits_differ`).
/// `change_permits()` changes it.
///
/// Not offered, because it cannot be done rightly:
/// - An order of the leases: tokens are unique and increasing for each slot, and say nothing of two slots. A resource has to keep the largest token
///   of each (`fence_guard` with `lease::name()`).
/// - First come, first served.
/// - More permits one by one: a client that holds some and waits for more may wait for ever, for another one that does the same. `acquire(3)` takes all or none.
/// - Permits without tokens: nodes that lost their data could grant more of them than there are.
///
/// Lifetimes: may outlive the client object; operations then complete with `errc::client_cancelled`.
/// Thread safety: const members may be called from any thread at the same time.
class REDLOCK_API semaphore {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// The keys on the servers are `NAME#0` to `NAME#(permits - 1)`, and `NAME:permits` for the number. Throws `std::invalid_argument` as the constructor
    /// of `lock` does, if `permits` is not between 1 and 64, if `lock_options::fencing` is off, or if there is an `owner`.
    semaphore(client const& owner, std::string name, semaphore_options const& options);

    /// The name for people to read.
    std::string_view name() const noexcept { return one_.name(); }

    /// The client's executor.
    executor_type get_executor() const noexcept { return one_.get_executor(); }

    /// How many permits there are.
    std::uint32_t permits() const noexcept;

    /// The other options that the constructor got.
    lock_options const& options() const noexcept { return one_.options(); }

    /// Acquires one permit, and waits as long as others hold them all. One round trip if permits are free; a second one where the nodes gave different
    /// slots, because several clients came at once.
    ///
    /// Preconditions: `client::run` is called, before or while it waits; otherwise it waits until its `acquire_timeout` (`errc::client_not_running`).
    /// Lifetimes: the semaphore may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lease)`; the lease is empty when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: as `lock::acquire()`.
    /// Errors: those of `lock::acquire()`, where `errc::contended` and `errc::acquire_timed_out` say that no permit was free; `errc::permits_differ`;
    /// `errc::self_deadlock` if the body of a `with_lock` awaits this whose scopes hold all permits.
    /// Thread safety: may be started from any thread.
    /// Source: docs/proof.md, "At most K".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(CompletionToken&& token = {}) const
    {
        return one_.acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return one_.acquire(report, std::forward<CompletionToken>(token));
    }

    /// Acquires `count` permits, all or none: one lease with several slots and one token. Nobody holds some of them while it waits for the others, so there
    /// is no deadlock; but a waiter that needs many may wait long while others take single ones.
    ///
    /// Preconditions: as of `acquire()`.
    /// Lifetimes: the semaphore may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lease)`; the lease is empty when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: as `lock::acquire()`.
    /// Errors: those of `acquire()`; `errc::too_many_permits` if `count` is 0 or larger than `permits()`.
    /// Thread safety: may be started from any thread.
    /// Source: docs/proof.md, "At most K".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(std::uint32_t count, CompletionToken&& token = {}) const
    {
        return several(count).acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(std::uint32_t count, attempt_report& report, CompletionToken&& token = {}) const
    {
        return several(count).acquire(report, std::forward<CompletionToken>(token));
    }

    /// Makes one attempt to acquire a permit.
    ///
    /// Preconditions: `client::run` is called, before or within `lock_options::node_timeout`.
    /// Lifetimes: the semaphore may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lease)`; the lease is empty when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: as `lock::try_acquire()`.
    /// Errors: those of `lock::try_acquire()`; `errc::split_votes` if several clients came at once for the last permits; `errc::permits_differ`.
    /// Thread safety: may be started from any thread.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(CompletionToken&& token = {}) const
    {
        return one_.try_acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return one_.try_acquire(report, std::forward<CompletionToken>(token));
    }

    /// The same, and acquires `count` permits, all or none: see `acquire(count)`.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(std::uint32_t count, CompletionToken&& token = {}) const
    {
        return several(count).try_acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(std::uint32_t count, attempt_report& report, CompletionToken&& token = {}) const
    {
        return several(count).try_acquire(report, std::forward<CompletionToken>(token));
    }

    /// An estimate of how many permits are free: how many slots a majority of nodes shows to be free. It was true on each node at some moment between call
    /// and completion, on no two at the same one, and may be over when you read it. For dashboards; to know whether there is a permit, acquire it.
    ///
    /// Preconditions: `client::run` is called.
    /// Lifetimes: the semaphore may be destroyed meanwhile.
    /// Completion signature: `void(error_code, std::size_t)`; the number is 0 when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal` and `partial`; `total` is ignored.
    /// Errors: `errc::no_majority` (too few nodes answered within `lock_options::node_timeout`), `errc::permits_differ`, `errc::client_not_running`,
    /// `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread.
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

/// Changes the number of permits of a semaphore, whether it is in use or not. From then on clients that say the former number are refused
/// (`errc::permits_differ`), and those that say the new one are not.
///
/// All nodes have to be told; then all slots above the new number are acquired, which waits for those who hold them, and released. While that
/// lasts, there may be as many holders as the larger number allows, and not more. When it completes, there are at most `permits`.
///
/// Preconditions: `client::run` is called; the calling coroutine has an executor whose context is running.
/// Lifetimes: the client object may be destroyed meanwhile, which cancels.
/// Completion signature: none of its own: it is an `asio::awaitable`; `co_spawn` it to use any other completion token.
/// Executor: that of the calling coroutine.
/// Per-operation cancellation: the types that the calling coroutine observes, by default `terminal`; nodes that were told the new number keep it. Call it again then.
/// Errors: thrown as `operation_error`: `errc::no_majority` (not all nodes could be told; the text says how many, and names the first of the others and its
/// reason), `errc::client_not_running` (none was asked), `errc::permits_changing` (another change came first), `errc::client_cancelled`, `asio::error::operation_aborted`, and what `lease::release()` throws. Thrown as `acquire_error`: `errc::self_deadlock`
/// if the body of a `with_lock` awaits this whose scope holds one of the slots that a smaller number takes away, and what `semaphore::acquire()` throws
/// (`errc::acquire_timed_out`: the new number counts, but slots above it are still held). Throws `std::invalid_argument` as the constructor of
/// `semaphore` does.
/// Thread safety: as the coroutine that calls it.
/// Source: docs/proof.md, "At most K".
[[nodiscard]] REDLOCK_API asio::awaitable<void> change_permits(client const& owner, std::string name, std::uint32_t permits,
                                                               lock_options options = {});

/// The same, and for any completion token, on the client's executor. Completion signature: `void(std::exception_ptr)`, which has what the coroutine would throw.
template <asio::completion_token_for<void(std::exception_ptr)> CompletionToken>
[[nodiscard]] auto change_permits(client const& owner, std::string name, std::uint32_t permits, lock_options const& options,
                                  CompletionToken&& token)
{
    return asio::co_spawn(owner.get_executor(), change_permits(owner, std::move(name), permits, options),
                          std::forward<CompletionToken>(token));
}

}  // namespace redlock

#endif
