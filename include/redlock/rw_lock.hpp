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

/// A cheap handle that consists of the name of a resource, options, and a client, like `lock`. Any number of leases to read are held at the same
/// time, or one to write.
///
/// A writer is the exclusive lock of that name: a `lock`, an older version of this library, or another library with `SET NX PX` excludes readers, and
/// is excluded by them, without knowing of them.
///
/// Nobody starves, as long as all writers are `rw_lock`s: a writer that waits leaves a wish on the nodes. While the wish is there, they let in only
/// those readers that a writer had refused before. So a writer waits for the readers that were there, and readers wait for one writer. Writers of other
/// kinds leave no wish, and `try_acquire()` leaves none: a stream of readers can keep them out. A reader that crashed keeps writers out until its ttl
/// is over, and one that is extended for ever keeps them out for ever (`lock_options::max_hold`).
///
/// What other libraries meet while somebody reads: their `GET` of the key is answered with WRONGTYPE, also in the script with which they release or
/// extend a lock of theirs that has expired. That script ends nobody's reading. One that deletes the key without looking, ends all of it.
///
/// Not offered, because it cannot be done rightly:
/// - An upgrade from reading to writing: two readers that want it would wait for each other for ever. A coroutine in a `with_shared_lock` body, and a
///   `lock_options::owner` that reads, is told so at once when it acquires the lock to write: `errc::self_deadlock`. The way down is
///   `lease::downgrade()`.
/// - Several names in one lock, some to read and some to write: one token for all of them is not argued for (docs/proof.md). The constructors that
///   would take them are deleted.
/// - Readers without tokens: nodes that lost their data could let a writer in beside them.
///
/// Lifetimes: may outlive the client object; operations then complete with `errc::client_cancelled`.
/// Thread safety: const members may be called from any thread at the same time.
class REDLOCK_API rw_lock {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// The name is the key on the servers, as for a `lock`; `NAME:want` is the key of the wish. Throws `std::invalid_argument` as the constructor of
    /// `lock` does, and if `lock_options::fencing` is off.
    rw_lock(client const& owner, std::string name, lock_options const& options = {});

    /// Several names, or several with a mode each, are not offered: see above. A writer of several names is a `lock`.
    rw_lock(client const& owner, std::initializer_list<std::string_view> names, lock_options const& options = {}) = delete;
    rw_lock(client const& owner, std::initializer_list<std::pair<std::string_view, lock_mode>> names,
            lock_options const& options = {}) = delete;
    rw_lock(client const& owner, std::vector<std::string> names, lock_options const& options = {}) = delete;

    /// The name for people to read.
    std::string_view name() const noexcept { return writer_.name(); }

    /// The options that the constructor got. A reader has one token, whatever `lock_options::token_block` is, and its lease is never handed over.
    lock_options const& options() const noexcept { return writer_.options(); }

    /// The client's executor.
    executor_type get_executor() const noexcept { return writer_.get_executor(); }

    /// Looks at the lock, as `lock::peek()` does: whether somebody writes, and who, or others read (`held`, without a `host`).
    ///
    /// Preconditions: `client::run` is called, before or within `lock_options::node_timeout`.
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lock_peek)`.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal`, `partial` and `total` complete at once.
    /// Errors: those of `lock::peek()`.
    /// Thread safety: may be started from any thread.
    template <asio::completion_token_for<void(error_code, lock_peek)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto peek(CompletionToken&& token = {}) const
    {
        return writer_.peek(std::forward<CompletionToken>(token));
    }

    /// Waits until something else is to be seen of the lock than `last`, as `lock::wait_changed()` does.
    ///
    /// Preconditions: `client::run` is called, before or while it waits.
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lock_peek)`.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal`, `partial` and `total` complete at once.
    /// Errors: those of `lock::wait_changed()`.
    /// Thread safety: may be started from any thread.
    template <asio::completion_token_for<void(error_code, lock_peek)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto wait_changed(lock_peek last, CompletionToken&& token = {}) const
    {
        return writer_.wait_changed(std::move(last), std::forward<CompletionToken>(token));
    }

    /// Acquires the lock to write, and waits as long as others read or write. Leaves a wish on the nodes while it waits for readers.
    ///
    /// Preconditions: `client::run` is called, before or while it waits; otherwise it waits until its `acquire_timeout` (`errc::client_not_running`).
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lease)`; the lease is empty when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: as `lock::acquire()`. Its wish ends a second later at the latest.
    /// Errors: those of `lock::acquire()`; `errc::self_deadlock` also when the owner reads, or the body of a `with_shared_lock` awaits this.
    /// Thread safety: may be started from any thread.
    /// Source: docs/proof.md, "Readers and a writer".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(CompletionToken&& token = {}) const
    {
        return writer_.acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return writer_.acquire(report, std::forward<CompletionToken>(token));
    }

    /// Makes one attempt to acquire the lock to write, and leaves no wish.
    ///
    /// Preconditions: `client::run` is called, before or within `lock_options::node_timeout`.
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lease)`; the lease is empty when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: as `lock::try_acquire()`.
    /// Errors: those of `lock::try_acquire()`; `errc::contended` also when others read.
    /// Thread safety: may be started from any thread.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(CompletionToken&& token = {}) const
    {
        return writer_.try_acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire(attempt_report& report, CompletionToken&& token = {}) const
    {
        return writer_.try_acquire(report, std::forward<CompletionToken>(token));
    }

    /// Acquires the lock to read: waits while somebody writes, or a writer waits that came before. One round trip if nobody does.
    ///
    /// The lease is one of its own, also beside other readers of this client. Its token is larger than those of all writers before, and smaller than
    /// those of all writers after it; readers share tokens. `lease::mode()` says `lock_mode::shared`.
    /// With `lock_options::owner`, an owner that reads or writes already gets a nested lease at once.
    ///
    /// Preconditions: `client::run` is called, before or while it waits; otherwise it waits until its `acquire_timeout` (`errc::client_not_running`).
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lease)`; the lease is empty when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: as `lock::acquire()`.
    /// Errors: those of `lock::acquire()`.
    /// Thread safety: may be started from any thread.
    /// Source: docs/proof.md, "Readers and a writer".
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire_shared(CompletionToken&& token = {}) const
    {
        return reader_.acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto acquire_shared(attempt_report& report, CompletionToken&& token = {}) const
    {
        return reader_.acquire(report, std::forward<CompletionToken>(token));
    }

    /// Makes one attempt to acquire the lock to read.
    ///
    /// Preconditions: `client::run` is called, before or within `lock_options::node_timeout`.
    /// Lifetimes: the lock may be destroyed meanwhile.
    /// Completion signature: `void(error_code, lease)`; the lease is empty when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: as `lock::try_acquire()`.
    /// Errors: those of `lock::try_acquire()`; `errc::contended` also when a writer waits.
    /// Thread safety: may be started from any thread.
    template <asio::completion_token_for<void(error_code, lease)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto try_acquire_shared(CompletionToken&& token = {}) const
    {
        return reader_.try_acquire(std::forward<CompletionToken>(token));
    }

    /// The same, and fills `report` just before it completes. `report` must live until then.
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
