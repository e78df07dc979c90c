// Proof of holding a lock for a while.
#ifndef REDLOCK_LEASE_HPP
#define REDLOCK_LEASE_HPP

#include <redlock/clock.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/initiation.hpp>
#include <redlock/detail/throwing.hpp>
#include <redlock/detail/time_limit.hpp>
#include <redlock/error.hpp>
#include <redlock/lock_mode.hpp>
#include <redlock/published.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace redlock {

/// Proof of holding a lock until `valid_until()`.
///
/// Move-only. A default-constructed or moved-from lease is empty: it holds nothing. Made by `lock::acquire()`, `rw_lock` and `semaphore`; from then on
/// the client's watchdog extends it until it is released or lost. The destructor never blocks and never throws; it hands the
/// release to the client, which does it in the background (`client::drain()` waits for it).
///
/// Lifetimes: a lease may outlive its lock and its client object; when the client is gone it is lost.
///
/// Operations on an empty lease complete with `errc::not_held`, on the handler's associated executor; a handler that has none is
/// called before the operation returns, since there is no client whose executor could serve. The same holds for tokens with a time limit
/// (`asio::cancel_after`, `asio::cancel_at`), which an empty lease does not need. Only a limit that a deferred operation gets when it is started has a timer of
/// Asio's `system_executor`, whose threads call handlers without an executor.
///
/// Without a token, and with `asio::use_awaitable` or `asio::use_future`, operations throw an `operation_error`, whose text has the lock's name and what was
/// the matter. Other tokens get the code.
///
/// Thread safety: distinct leases may be used from any thread. Of one lease, `valid`, `valid_until`, `nodes_held`, `faults_tolerated`,
/// `token`, `next_token`, `mode`, `slot`, `slots` and `name` may be called at any time from any thread; everything else needs the usual care that two
/// threads do not use one object.
class [[nodiscard]] REDLOCK_API lease {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// An empty lease.
    lease() noexcept = default;

    explicit lease(std::shared_ptr<detail::lease_state> state) noexcept : state_{std::move(state)} {}

    lease(lease&& other) noexcept = default;  ///< Leaves the other one empty.

    /// Hands the release of what was held here, if one is due, to the client.
    lease& operator=(lease&& other) noexcept
    {
        if (this != &other) {
            let_go();
            state_ = std::move(other.state_);
        }
        return *this;
    }

    /// Hands the release, if one is due, to the client.
    ~lease() { let_go(); }

    /// The client's executor; Asio's `system_executor` for an empty lease.
    executor_type get_executor() const noexcept { return detail::initiate_on_lease::executor_of(state_); }

    /// Whether this is a lease at all (it may have ended: see `valid()`).
    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Whether the lock is held now, and will be for `min_left` more. Looks at the clock, so it is right even when no
    /// timer has run. Ask again right before anything that must not happen without the lock. A lease that could not be extended
    /// is given up `stop_margin` before `valid_until()`, and is not valid from then on.
    [[nodiscard]] bool valid(std::chrono::nanoseconds min_left = {}) const noexcept;

    /// When the proof ends unless it is extended: the M-th largest of the nodes' deadlines, each counted from before the
    /// request was sent. The epoch for an empty lease. Says nothing of a lease that was released.
    [[nodiscard]] boot_clock::time_point valid_until() const noexcept;

    /// On how many members of the set the key is known to be ours. A majority at least, while the lease is valid; until its next extension it may also stand on
    /// members that have left since. Says nothing after its release.
    [[nodiscard]] std::size_t nodes_held() const noexcept;

    /// How many nodes may lose the key, however that happens, before somebody else could acquire the lock: held on h of N nodes, with M
    /// a majority, h + M - N - 1. Zero on a bare majority, which is why the watchdog sets the key again on nodes that do not have it.
    [[nodiscard]] std::size_t faults_tolerated() const noexcept;

    /// The fencing token: larger than that of every lease on this name that was acquired before this one was asked for, whatever
    /// clocks and networks do; a lease that was handed over within the client counts as asked for when the client acquired it.
    /// Send it along with every access, and let the resource refuse a smaller one than it has seen (`fence_guard`,
    /// docs/fenced-writes.md). 0 without `lock_options::fencing`, and for an empty lease.
    /// Source: docs/proof.md.
    [[nodiscard]] std::uint64_t token() const noexcept;

    /// Moves on to the next of the tokens that `lock_options::token_block` reserved, for work that must be ordered after what `token()`
    /// was given to. Returns whether there was one; if not, `token()` stays.
    /// Thread safety: may be called at any time from any thread; no two calls move on to the same token.
    [[nodiscard]] bool next_token() noexcept;

    /// `shared` for a lease of `rw_lock::acquire_shared()`, and from the call of `downgrade()` on; `permit` for one of a `semaphore`; otherwise
    /// `exclusive`.
    [[nodiscard]] lock_mode mode() const noexcept;

    /// The slot of a permit: which of the locks `NAME#0` to `NAME#(K-1)` it is. Of several permits, the first. None for a lease of something else, and
    /// for an empty one.
    [[nodiscard]] std::optional<std::uint32_t> slot() const noexcept;

    /// The slots of all permits, in increasing order.
    [[nodiscard]] std::vector<std::uint32_t> slots() const;

    /// The name of the lock, and of a permit that of its slot (`NAME#3`); empty for an empty lease.
    [[nodiscard]] std::string_view name() const noexcept;

    /// Extends the lease by the ttl of its options, on a majority.
    ///
    /// The watchdog does this by itself; call it when `auto_extend` is off, or before something that needs the full ttl.
    ///
    /// Preconditions: none; an empty, released or lost lease is an error, see below.
    /// Lifetimes: the lease object may be moved or destroyed meanwhile.
    /// Completion signature: `void(error_code)`.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal` and `partial` stop the waiting; what was sent to the nodes still counts. `total`
    /// is ignored, since the nodes may already have extended.
    /// Errors: `errc::no_majority` (too few nodes confirmed in time; the lease still runs until `valid_until()`),
    /// `errc::lease_lost` or whatever else ended the lease, `errc::not_held`, `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread, not concurrently with other members of the same object.
    /// Source: the distlock page of Redis, "Making the algorithm more reliable: extending the lock".
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto extend(CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_on_lease{state_, &detail::lease_core::extend});
    }

    /// Makes a reader of the writer of a `rw_lock`: others may read from then on, and no writer comes in between. The lease keeps its token.
    ///
    /// The way back, an upgrade, does not exist: two readers that want to write would wait for each other for ever. Release the lease, acquire the
    /// lock, and look again at what was read.
    ///
    /// Preconditions: none; an empty, released or lost lease is an error, see below. Nothing is done, without an error, when it is shared already.
    /// Lifetimes: the lease object may be moved or destroyed meanwhile.
    /// Completion signature: `void(error_code)`; called when a majority has it as a reader's. If the downgrade begins, `mode()` is `lock_mode::shared`
    /// from then on, whatever the outcome is.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal` and `partial` stop the waiting, not the downgrade. `total` is ignored.
    /// Errors: `errc::no_majority` (too few nodes confirmed in time; they hear of it with the next extension), `errc::lease_lost` or whatever else
    /// ended the lease, `errc::not_held`, `asio::error::operation_not_supported` (the lease is of a `lock`, others of its `lock_options::owner` share
    /// it, or it had to get back onto a node after a restart), `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread, not concurrently with other members of the same object.
    /// Source: docs/proof.md, "Readers and a writer".
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto downgrade(CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_on_lease{state_, &detail::lease_core::downgrade});
    }

    /// Publishes a state that goes with the lock, up to `max_state_size` bytes: a checkpoint of a job, the address of a leader. Others see
    /// it with `lock::peek()`, and the next holder inherits it (`inherited()`), with the token that this lease has now. It replaces what
    /// was published before. `value` is copied.
    ///
    /// When this completes without an error, a majority of the nodes keeps the state: every later holder inherits it, or a newer one, while the nodes
    /// keep their data (kept on h of N nodes, h + M - N - 1 of them may lose their data). Nothing that a lease with a smaller token publishes, whenever it
    /// arrives, is in its place again. With any other outcome it may have been published, or may be yet. Nodes keep it for
    /// `config::token_retention` after the last holder that has published or inherited it; the watchdog sees to that, and gives it to nodes
    /// that come back.
    ///
    /// Preconditions: none; an empty, released or lost lease is an error, see below.
    /// Lifetimes: the lease object may be moved or destroyed meanwhile.
    /// Completion signature: `void(error_code)`.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal` and `partial` stop the waiting; what was sent to the nodes still counts. `total` is ignored.
    /// Errors: `errc::state_too_large`, `errc::state_unsupported` (a lease without tokens, of a reader, or of several names), `errc::no_majority` (too few
    /// nodes answered in time: publish it again), `errc::lease_lost` or whatever else ended the lease, `errc::not_held`, `errc::client_cancelled`,
    /// `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread, not concurrently with other members of the same object. Of several that are under way, the one that
    /// was started last is the newest.
    /// Source: docs/proof.md, "State that goes with a lock".
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto publish(std::string value, CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_publish{state_, std::move(value)});
    }

    /// What was published last on this lock: by the holder before, or one before that. Ask before you publish something yourself; afterwards it is that.
    /// An empty one (`!state`) if nothing was published, or nothing within `config::token_retention`.
    ///
    /// What it returns is on a majority of the nodes; if it was not, it is written back first. Nothing that an older holder publishes counts from then on.
    ///
    /// Preconditions: none; an empty, released or lost lease is an error, see below.
    /// Lifetimes: the lease object may be moved or destroyed meanwhile.
    /// Completion signature: `void(error_code, published_state)`; the state is empty when there is an error.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal` and `partial` complete at once. `total` is ignored.
    /// Errors: those of `publish()`, but for `errc::state_too_large`.
    /// Thread safety: may be started from any thread, not concurrently with other members of the same object.
    /// Source: docs/proof.md, "State that goes with a lock".
    template <asio::completion_token_for<void(error_code, published_state)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto inherited(CompletionToken&& token = {})
    {
        return start<void(error_code, published_state), CompletionToken>(token, detail::initiate_inherited{state_});
    }

    /// Gives the lock back on every node. The lease is over from the moment this starts.
    ///
    /// Preconditions: none; on an empty lease it is an error.
    /// Lifetimes: the lease object may be moved or destroyed meanwhile.
    /// Completion signature: `void(error_code)`; called when a majority answered, or none can any more. The release itself
    /// goes on to every node; `client::drain()` waits for that.
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: `terminal` and `partial` stop the waiting, not the release. `total` is ignored: the release is
    /// already on its way.
    /// Errors: `errc::lease_lost` (or what else ended it: the keys were already gone on a majority, so somebody else may have
    /// held the lock before this call), `errc::release_unconfirmed` (too few nodes answered; the keys expire within the ttl and the `lock_delay`),
    /// `errc::not_held`, `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Thread safety: may be started from any thread, not concurrently with other members of the same object.
    /// Source: the distlock page of Redis, "Correct implementation with a single instance" (compare and delete).
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto release(CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_on_lease{state_, &detail::lease_core::release});
    }

    /// Ends the care of this object for the lease, without a release, and returns a ticket: a text with which another process, on whatever host, goes on
    /// with it (`client::adopt()`), with the same token. Leaves this lease empty. Returns an empty text, and changes nothing, if the lease is not held any
    /// more, is empty, or is not exclusive (`mode()`): a ticket is of one holder, and does not carry the number of permits.
    ///
    /// Nobody extends the lease until it is adopted: from now on the time runs that is left of its ttl, and after it the ticket is good for nothing.
    /// One adoption succeeds at the most, however many copies of the ticket exist. A copy is enough to use the lock as its holder, and to release it: treat it
    /// like a password that lasts as long as the lease. It contains the lock's name, its value (which names this host and
    /// process), the token, the ttl, and fingerprints of the servers, but no address and no password.
    ///
    /// A detached lease cannot be taken back except by `adopt()`. Waits for its loss complete with `asio::error::operation_aborted`. Other leases that
    /// the same `lock_options::owner` has of the lock are lost (`errc::lease_lost`), since it travels as a whole. Within `with_lock` the body may detach
    /// the lease that it was given; nothing is released at its end then.
    /// Thread safety: not concurrently with other members of the same object.
    /// Source: docs/proof.md, "Leases that travel".
    [[nodiscard]] std::string detach();

    /// Completes when the lease is lost: `stop_margin` before its validity ends if it could not be extended, at once when a
    /// majority is known to be gone, when `max_hold` passes, or when the client is cancelled.
    ///
    /// Preconditions: none; on an empty lease it is an error.
    /// Lifetimes: the lease object may be moved meanwhile. Destroying it releases the lease, which ends the wait.
    /// Completion signature: `void(error_code)`; the code says why, it is never "no error".
    /// Executor: the handler's associated executor, by default the client's.
    /// Per-operation cancellation: all types; nothing else changes.
    /// Errors: `errc::lease_lost`, `errc::max_hold_exceeded`, `errc::client_cancelled` (condition `lost`);
    /// `asio::error::operation_aborted` when the wait was cancelled or the lease was released; `errc::not_held`.
    /// Thread safety: may be started from any thread, not concurrently with other members of the same object.
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto wait_lost(CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_on_lease{state_, &detail::lease_core::wait_lost});
    }

    /// Why the lease ended before it was released (condition `lost`); no error while it is held, after its release, and for an
    /// empty one. A lease whose validity ran out without anybody noticing is lost too.
    [[nodiscard]] error_code lost_error() const noexcept;

private:
    friend struct detail::access;

    void let_go() noexcept;

    template <class Signature, class CompletionToken, class Initiation>
    auto start(std::remove_reference_t<CompletionToken>& token, Initiation&& what) const
    {
        if constexpr (detail::limited<CompletionToken>) {
            return detail::start_limited<Signature, CompletionToken>(token, std::forward<Initiation>(what));
        } else {
            return detail::start_operation<Signature, CompletionToken>(token, std::forward<Initiation>(what));
        }
    }

    std::shared_ptr<detail::lease_state> state_;
};

}  // namespace redlock

#endif
