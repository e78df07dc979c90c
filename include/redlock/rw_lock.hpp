// A read-write lock: many may read, or one may write.
#ifndef REDLOCK_RW_LOCK_HPP
#define REDLOCK_RW_LOCK_HPP

#include <redlock/client.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/lease.hpp>
#include <redlock/lock.hpp>
#include <redlock/lock_mode.hpp>
#include <redlock/options.hpp>
#include <redlock/published.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace redlock {

/// A cheap handle that consists of a name, options and a client, like `lock`. Any number of leases to read, or one to write, are held at
/// the same time.
///
/// A writer holds the exclusive lock of that name: a `lock`, or another library with `SET NX PX`, excludes readers and is excluded by them.
///
/// A writer that waits registers its intent on the nodes. While it is registered, they admit only readers that an earlier writer had
/// refused: a writer waits for the readers that were there before, and readers wait for one writer. So neither side starves, if all writers
/// are `rw_lock`s that wait in `acquire()` without `max_attempts`. Other writers and `try_acquire()` register nothing, and a stream of
/// readers can keep them out. A crashed reader blocks writers until its ttl is over; one that is extended indefinitely blocks them
/// indefinitely (see `lock_options::max_hold`).
///
/// Effect on other libraries while readers hold the lock: their `GET` of the key fails with WRONGTYPE, also in a script that releases or
/// extends an expired lock. Such a script releases no reader; an unconditional DEL releases all.
///
/// Not offered:
/// - An upgrade from reading to writing: two readers that want it would wait for each other forever. In the body of a `with_shared_lock`,
///   and for a `lock_options::owner` that reads, `acquire()` fails with `errc::self_deadlock`. `lease::downgrade()` is the opposite.
/// - Several names in one lock, some to read and some to write: one token for all of them has no proof (docs/proof.md). The constructors
///   for this are deleted.
/// - Readers without tokens: nodes that lost their data could admit a writer beside them.
///
/// For all operations:
///
/// Preconditions: `client::run()` is called, before or during the operation; otherwise as with `lock`.
/// Executor: the handler's associated executor, by default the client's.
/// Lifetimes: the lock may be destroyed during an operation, and may outlive the client object; operations then complete with
/// `errc::client_cancelled`.
/// Thread safety: const members may be called from any thread at the same time.
class REDLOCK_API rw_lock {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// The name is the key on the servers, as with `lock`; the intents of writers are in `NAME:want`. Throws `std::invalid_argument` as the
    /// constructor of `lock`, and if `lock_options::fencing` is off.
    rw_lock(client const& owner, std::string name, lock_options const& options = {});

    /// Several names, or several with a mode each, are not offered (see above). A writer of several names is a `lock`.
    rw_lock(client const& owner, std::initializer_list<std::string_view> names, lock_options const& options = {}) = delete;
    rw_lock(client const& owner, std::initializer_list<std::pair<std::string_view, lock_mode>> names,
            lock_options const& options = {}) = delete;
    rw_lock(client const& owner, std::vector<std::string> names, lock_options const& options = {}) = delete;

    /// A human-readable name.
    std::string_view name() const noexcept { return writer_.name(); }

    /// The options given to the constructor. A reader has one token, regardless of `lock_options::token_block`, and its lease is never
    /// handed over.
    lock_options const& options() const noexcept { return writer_.options(); }

    /// The client's executor.
    executor_type get_executor() const noexcept { return writer_.get_executor(); }

    /// Returns who writes, or that others read (`held`, without a `host`), as `lock::peek()`.
    ///
    /// Errors: those of `lock::peek()`.
    /// Completion signature: `void(error_code, lock_peek)`.
    /// Per-operation cancellation: all types complete at once.
    template <asio::completion_token_for<void(error_code, lock_peek)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto peek(CompletionToken&& token = {}) const
    {
        return writer_.peek(std::forward<CompletionToken>(token));
    }

    /// Waits until the lock looks different from `last`, as `lock::wait_changed()`.
    ///
    /// Errors: those of `lock::wait_changed()`.
    /// Completion signature: `void(error_code, lock_peek)`.
    /// Per-operation cancellation: all types complete at once.
    template <asio::completion_token_for<void(error_code, lock_peek)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto wait_changed(lock_peek last, CompletionToken&& token = {}) const
    {
        return writer_.wait_changed(std::move(last), std::forward<CompletionToken>(token));
    }

    /// Acquires the lock to write, and waits while others read or write. Registers its intent while readers hold the lock.
    ///
    /// Errors: those of `lock::acquire()`; `errc::self_deadlock` also when its owner reads, or the body of a `with_shared_lock` awaits
    /// this.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: as `lock::acquire()`. The intent ends within a second.
    /// Source: docs/proof.md, "Readers and a writer".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(CompletionToken&& token = {}) const
    {
        return writer_.acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return writer_.acquire(report, std::forward<CompletionToken>(token));
    }

    /// Makes one attempt to acquire the lock to write. Registers no intent.
    ///
    /// Errors: those of `lock::try_acquire()`; `errc::contended` also when others read.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: as `lock::try_acquire()`.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(CompletionToken&& token = {}) const
    {
        return writer_.try_acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return writer_.try_acquire(report, std::forward<CompletionToken>(token));
    }

    /// Acquires the lock to read, and waits while another client writes, or while an earlier writer waits. One round trip otherwise.
    ///
    /// The lease is separate from those of other readers, also of this client. Its token is larger than the tokens of all earlier writers,
    /// and smaller than those of all later ones; readers may share a token. `lease::mode()` is `lock_mode::shared`. An owner
    /// (`lock_options::owner`) that already reads or writes gets a nested lease at once; nested in a writer's lease it is exclusive.
    ///
    /// Errors: those of `lock::acquire()`.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: as `lock::acquire()`.
    /// Source: docs/proof.md, "Readers and a writer".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire_shared(CompletionToken&& token = {}) const
    {
        return reader_.acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire_shared(attempt_report& report, CompletionToken&& token = {}) const
    {
        return reader_.acquire(report, std::forward<CompletionToken>(token));
    }

    /// Makes one attempt to acquire the lock to read.
    ///
    /// Errors: those of `lock::try_acquire()`; `errc::contended` also when a writer waits.
    /// Completion signature: `void(error_code, lease)`; the lease is empty on error.
    /// Per-operation cancellation: as `lock::try_acquire()`.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire_shared(CompletionToken&& token = {}) const
    {
        return reader_.try_acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report`, which must live until the operation completes.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire_shared(attempt_report& report, CompletionToken&& token = {}) const
    {
        return reader_.try_acquire(report, std::forward<CompletionToken>(token));
    }

private:
    friend struct detail::access;

    lock writer_;
    lock reader_;
};

}  // namespace redlock

#endif
