// A lock that is held for a limited time.
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

/// A lock that is held until `valid_until()`.
///
/// Move-only. A default-constructed or moved-from lease is empty. `lock`, `rw_lock`, `semaphore` and `client::adopt()` make leases; the
/// client's watchdog extends a lease until it is released or lost. The destructor hands the release to the client, which sends it in the
/// background (`client::drain()` waits for it). The destructor neither blocks nor throws.
///
/// Without a completion token, and with `asio::use_awaitable` or `asio::use_future`, operations throw an `operation_error`, whose text has
/// the lock's name and the reason. Other tokens get the code.
///
/// Operations on an empty lease complete with `errc::not_held`: on the handler's associated executor, or, if it has none, before the
/// operation returns. A time limit (`asio::cancel_after`, `asio::cancel_at`) makes no difference, unless a deferred operation gets it when
/// it is started: its timer then uses Asio's `system_executor`, whose threads call handlers without an executor.
///
/// For all operations:
///
/// Preconditions: none.
/// Executor: the handler's associated executor, by default the client's.
/// Lifetimes: a lease may outlive its lock and its client object; when the client is destroyed, the lease is lost. The lease object may be
/// moved or destroyed during an operation.
/// Thread safety: distinct leases may be used from any thread. Of one lease, `valid`, `valid_until`, `nodes_held`, `faults_tolerated`,
/// `token`, `next_token`, `mode`, `slot`, `slots`, `name`, `lost_error` and `get_executor` may be called from any thread at any time; other
/// members from any thread, but only one at a time.
class [[nodiscard]] REDLOCK_API lease {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// An empty lease.
    lease() noexcept = default;

    explicit lease(std::shared_ptr<detail::lease_state> state) noexcept : state_{std::move(state)} {}

    lease(lease&& other) noexcept = default;  ///< Leaves `other` empty.

    /// Hands the release of the lease held here, if any is due, to the client.
    lease& operator=(lease&& other) noexcept
    {
        if (this != &other) {
            let_go();
            state_ = std::move(other.state_);
        }
        return *this;
    }

    /// Hands the release, if any is due, to the client.
    ~lease() { let_go(); }

    /// The client's executor; Asio's `system_executor` for an empty lease.
    executor_type get_executor() const noexcept { return detail::initiate_on_lease::executor_of(state_); }

    /// Whether the lease is not empty. It may have ended: see `valid()`.
    explicit operator bool() const noexcept { return state_ != nullptr; }

    /// Whether the lock is held now, and will be for `min_left` more. Reads the clock, so the answer is right even when no timer has run.
    /// Check again right before anything that must not happen without the lock. The watchdog gives up a lease that could not be extended
    /// `stop_margin` before `valid_until()`; it is invalid from then on.
    [[nodiscard]] bool valid(std::chrono::nanoseconds min_left = {}) const noexcept;

    /// When the lease ends unless it is extended: the M-th largest of the nodes' deadlines (M is a majority), each counted from before the
    /// request was sent. The epoch for an empty lease; meaningless after a release.
    [[nodiscard]] boot_clock::time_point valid_until() const noexcept;

    /// On how many nodes the key is known to be this lease's. At least a majority while the lease is valid. Until the next extension, nodes
    /// that have left the set may be counted too. Meaningless after a release.
    [[nodiscard]] std::size_t nodes_held() const noexcept;

    /// How many nodes may lose the key before another client could acquire the lock: held on h of N nodes, with M a majority,
    /// `h + M - N - 1`. Zero on a bare majority; with `fencing`, the watchdog then sets the key again on the other nodes.
    [[nodiscard]] std::size_t faults_tolerated() const noexcept;

    /// The fencing token: larger than the token of every lease on this name that was acquired before this one was requested, regardless of
    /// clocks and networks (the exceptions are in docs/semantics.md). A lease that was handed over within the client counts as requested
    /// when the client acquired it. Send it with every access, and let the resource refuse a token smaller than one it has seen
    /// (`fence_guard`, docs/fenced-writes.md). 0 without `lock_options::fencing`, and for an empty lease.
    /// Source: docs/proof.md.
    [[nodiscard]] std::uint64_t token() const noexcept;

    /// Moves `token()` to the next of the tokens that `lock_options::token_block` reserved, for work that must be ordered after what got
    /// the previous one. Returns whether there was one; if not, `token()` stays. No two calls move to the same token.
    [[nodiscard]] bool next_token() noexcept;

    /// `shared` for a lease of `rw_lock::acquire_shared()` and after a call of `downgrade()`; `permit` for a lease of a `semaphore`;
    /// otherwise `exclusive`.
    [[nodiscard]] lock_mode mode() const noexcept;

    /// The slot of a permit: i for the lock `NAME#i`. Of several permits, the first. None for other leases and an empty one.
    [[nodiscard]] std::optional<std::uint32_t> slot() const noexcept;

    /// The slots of all permits, in increasing order.
    [[nodiscard]] std::vector<std::uint32_t> slots() const;

    /// The name of the lock; of a permit, the name of its slot (`NAME#3`). Several names are separated by ", ". Empty for an empty lease.
    [[nodiscard]] std::string_view name() const noexcept;

    /// Extends the lease on a majority, by the ttl of its options. The watchdog does this by itself: call it when `auto_extend` is off, or
    /// before work that needs the full ttl.
    ///
    /// Errors: `errc::no_majority` (too few nodes confirmed in time; the lease is not lost yet), `errc::lease_lost` or the other code with
    /// which the lease ended, `errc::not_held` (empty or released), `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code)`.
    /// Per-operation cancellation: `terminal` and `partial` stop the waiting; what was sent to the nodes still counts. `total` is ignored,
    /// because the nodes may already have extended.
    /// Source: the distlock page of Redis, "Making the algorithm more reliable: extending the lock".
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto extend(CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_on_lease{state_, &detail::lease_core::extend});
    }

    /// Turns the writer of a `rw_lock` into a reader: others may read from then on, and no writer holds the lock in between. The token
    /// stays. Does nothing if the lease is shared already.
    ///
    /// There is no upgrade from reading to writing: two readers that want it would wait for each other forever. Release the lease, acquire
    /// the lock, and read again what was read.
    ///
    /// Errors: `errc::no_majority` (too few nodes confirmed in time; the next extension informs them), `errc::lease_lost` or the other code
    /// with which the lease ended, `errc::not_held` (empty or released), `asio::error::operation_not_supported` (the lease is not of a
    /// `rw_lock`, other leases of its `lock_options::owner` share it, or it had to be set again on a node after a restart),
    /// `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code)`; called when a majority has the lease as a reader's. Once the downgrade has begun, `mode()`
    /// is `lock_mode::shared`, and remains so regardless of the outcome.
    /// Per-operation cancellation: `terminal` and `partial` stop the waiting, not the downgrade. `total` is ignored.
    /// Source: docs/proof.md, "Readers and a writer".
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto downgrade(CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_on_lease{state_, &detail::lease_core::downgrade});
    }

    /// Publishes a state with the lock, up to `max_state_size` bytes: a checkpoint of a job, the address of a leader. It replaces the
    /// previous one. Others read it with `lock::peek()`; the next holder inherits it (`inherited()`), together with the present `token()`.
    ///
    /// Success means that a majority of the nodes has the state: every later holder inherits it or a newer one, while the nodes keep their
    /// data (on h of N nodes, `h + M - N - 1` of them may lose their data). A late publication of a lease with a smaller token never
    /// replaces it. After an error the state may have been published, or may still be. Nodes keep it for `config::token_retention` after
    /// the last holder that published or inherited it; while the lease is held, the watchdog renews it and sends it to nodes that return.
    ///
    /// Errors: `errc::state_too_large`, `errc::state_unsupported` (a lease without tokens, of a reader, or of several names),
    /// `errc::no_majority` (too few nodes answered within `node_timeout`; publish it again), `errc::lease_lost` or the other code with
    /// which the lease ended, `errc::not_held` (empty or released), `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code)`.
    /// Per-operation cancellation: `terminal` and `partial` stop the waiting; what was sent to the nodes still counts. `total` is ignored.
    /// Thread safety: as for all operations. Of several publications in progress, the one that was started last is the newest.
    /// Source: docs/proof.md, "State that goes with a lock".
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto publish(std::string value, CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_publish{state_, std::move(value)});
    }

    /// Returns the state that was last published on this lock, by the previous holder or an earlier one. Call it before `publish()`;
    /// afterwards it returns the state of this lease. Empty (`!state`) if nothing was published, or nothing within
    /// `config::token_retention`.
    ///
    /// The state that it returns is on a majority of the nodes; if it was not, it is written back first. Nothing that an earlier holder
    /// publishes counts from then on.
    ///
    /// Errors: those of `publish()`, except `errc::state_too_large`.
    /// Completion signature: `void(error_code, published_state)`; the state is empty on error.
    /// Per-operation cancellation: `terminal` and `partial` complete at once. `total` is ignored.
    /// Source: docs/proof.md, "State that goes with a lock".
    template <asio::completion_token_for<void(error_code, published_state)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto inherited(CompletionToken&& token = {})
    {
        return start<void(error_code, published_state), CompletionToken>(token, detail::initiate_inherited{state_});
    }

    /// Releases the lock on every node. The lease is over as soon as this starts. A second call completes with the outcome of the first.
    ///
    /// Errors: `errc::lease_lost` or the other code with which the lease ended (the keys were already gone on a majority, so another client
    /// may have held the lock before this call), `errc::release_unconfirmed` (too few nodes answered; the keys expire within the ttl and
    /// the `lock_delay`), `errc::not_held` (empty), `errc::client_cancelled`, `asio::error::operation_aborted`.
    /// Completion signature: `void(error_code)`; called when a majority has answered, or none can any more. The release continues on the
    /// other nodes; `client::drain()` waits for that.
    /// Per-operation cancellation: `terminal` and `partial` stop the waiting, not the release. `total` is ignored, because the release has
    /// been sent.
    /// Source: the distlock page of Redis, "Correct implementation with a single instance" (compare and delete).
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto release(CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_on_lease{state_, &detail::lease_core::release});
    }

    /// Gives up the lease without releasing it, and returns a ticket: a text with which another process, on any host, takes over the lease
    /// with the same token (`client::adopt()`). This lease is then empty. If the lease is not held any more, is empty, or is not exclusive
    /// (`mode()`), returns an empty text and changes nothing.
    ///
    /// Nothing extends the lease until it is adopted: the remaining ttl keeps running; then the ticket is useless. At most one adoption
    /// succeeds, however many copies of the ticket exist. Anyone with a copy can use and release the lock: treat it like a password that is
    /// valid as long as the lease. It contains the lock's name, its value (which names this host and process), the token, the ttl, and
    /// fingerprints of the servers, but no address and no password.
    ///
    /// Only `adopt()` takes a detached lease back. `wait_lost()` of this lease completes with `asio::error::operation_aborted`. Other
    /// leases of the same `lock_options::owner` on the lock are lost (`errc::lease_lost`), because the lock is detached as a whole. The
    /// body of a `with_lock` may detach its lease; nothing is released at its end.
    /// Source: docs/proof.md, "Leases that travel".
    [[nodiscard]] std::string detach();

    /// Waits until the lease is lost: `stop_margin` before its validity ends if it could not be extended; at once when a majority is known
    /// to be gone, when `max_hold` has passed, or when the client is cancelled.
    ///
    /// Errors: never "no error". `errc::lease_lost`, `errc::max_hold_exceeded`, `errc::client_cancelled` (condition `lost`);
    /// `asio::error::operation_aborted` when the wait was cancelled, or the lease was released, destroyed or detached; `errc::not_held`
    /// (empty).
    /// Completion signature: `void(error_code)`.
    /// Per-operation cancellation: all types; the lease stays as it is.
    template <asio::completion_token_for<void(error_code)> CompletionToken = detail::deferred_throwing_t>
    [[nodiscard]] auto wait_lost(CompletionToken&& token = {})
    {
        return start<void(error_code), CompletionToken>(token, detail::initiate_on_lease{state_, &detail::lease_core::wait_lost});
    }

    /// Why the lease ended before it was released (condition `lost`), also if it expired unnoticed. No error while it is held, after its
    /// release, and for an empty lease.
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
