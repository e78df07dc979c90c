// Leader election: one process at a time leads, and steps down before another one leads; others observe it.
#ifndef REDLOCK_ELECTION_HPP
#define REDLOCK_ELECTION_HPP

#include <redlock/client.hpp>
#include <redlock/detail/access.hpp>
#include <redlock/detail/campaign.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/lease.hpp>
#include <redlock/lock.hpp>
#include <redlock/options.hpp>
#include <redlock/published.hpp>
#include <redlock/with_lock.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <concepts>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace redlock {

/// The options of an election: `redlock::election{client, "name", "10.0.0.1:8080", {.min_pause = 1s}}`.
struct election_options {
    /// The options of the leader's lock. `stop_margin` is the time that a leader has to step down; after a crash, another process can lead
    /// when the ttl has passed. By default, a leader does not hand its lock over within its client, because each term has its own token: if
    /// you set `lock`, set `max_handoffs = 0`.
    lock_options lock{.max_handoffs = 0, .max_local_hold = std::chrono::milliseconds{0}};

    /// The bounds of the random pause before a candidate that lost its leadership campaigns again, so that others can lead. 0 ms to 1 hour.
    std::chrono::milliseconds min_pause{100};
    std::chrono::milliseconds max_pause{1000};  ///< See `min_pause`; not below it.

    friend bool operator==(election_options const&, election_options const&) = default;
};

static_assert(std::is_trivially_copyable_v<election_options> && std::is_trivially_destructible_v<election_options>,
              "g++ 12 destroys non-trivial temporaries twice inside co_await expressions");

/// Who leads, as far as others can know.
struct leader_info {
    bool leads{false};  ///< Whether a process leads. If not, the other members are empty.
    std::string address{};  ///< The address that the leader published.
    std::uint64_t token{0};  ///< The fencing token of the term; later leaders have larger ones.
    std::string host{};  ///< The leader's host, by its own account.
    std::uint64_t pid{0};  ///< The leader's process id.
    std::string label{};  ///< The leader's `config::label`.
    std::optional<std::chrono::system_clock::time_point> since{};  ///< When it began to campaign for this term, in whole seconds of its own
    ///< clock.

    /// Whether a process leads.
    explicit operator bool() const noexcept { return leads; }

    friend bool operator==(leader_info const&, leader_info const&) = default;
};

/// An election among all processes that use the same name on the same nodes. The leader holds the lock of that name, and has published its
/// address.
///
/// A cheap handle. `resign()` ends the campaigns of all its copies.
///
/// `lead()`, `leader()` and `observe()` are coroutines, which run on the executor of the calling coroutine; their other overloads take any
/// completion token.
///
/// For all operations:
///
/// Preconditions: the context of the executor is running. `client::run()` is called, before or during the operation; `lead()` and
/// `observe()` wait for it, `leader()` for `lock_options::node_timeout`.
/// Lifetimes: operations copy what they need of this object. It may outlive the client object; operations then end with
/// `errc::client_cancelled`.
/// Thread safety: const members may be called from any thread at the same time.
class REDLOCK_API election {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// The name is that of a `lock`. `address` is published while this candidate leads, usually where it can be reached: up to
    /// `max_state_size` bytes, empty for a process that only observes. Throws `std::invalid_argument` as the constructor of `lock`, if the
    /// address is longer, if a pause is out of bounds, or if `lock_options::fencing` is off.
    election(client const& owner, std::string name, std::string address = {}, election_options const& options = {});

    /// The client's executor.
    executor_type get_executor() const noexcept { return lock_.get_executor(); }

    /// The name of the lock.
    std::string_view name() const noexcept { return lock_.name(); }

    /// Campaigns until this process leads, publishes the address, and runs `body(lease&)`, which returns an `asio::awaitable<void>`. Like
    /// the body of `with_lock`, it is cancelled `stop_margin` before another process may lead. If the leadership is lost, this campaigns
    /// again after a random pause.
    ///
    /// Completes without an error when the body returns while it leads, or after `resign()`; then the lock is released. A body that
    /// returned while it led does not run again, even if the release fails.
    ///
    /// Lifetimes: the body is copied or moved in, and runs once for each term. As with `with_lock`, g++ before 13 needs a body with
    /// captures to have a name.
    /// Errors, thrown as `system_error`: `errc::client_cancelled`; `errc::ttl_too_long`, `errc::wrong_node_set` and `errc::self_deadlock`
    /// of `lock::acquire()`; `asio::error::operation_aborted`; what the body throws while it leads. A lost lease, what the body throws
    /// after that, and nodes that do not answer are no errors.
    /// Completion signature: none; an `asio::awaitable<void>`.
    /// Executor: the body runs on a strand of the caller's executor; its cancellation is emitted there.
    /// Per-operation cancellation: the caller's cancellations end the campaign, or reach the body with their types, as with `with_lock`.
    /// The lock is released before this completes.
    template <class Body>
        requires detail::scope_body<std::decay_t<Body>, lease&>
    [[nodiscard]] asio::awaitable<void> lead(Body&& body) const
    {
        detail::require_named_body<Body>();
        return detail::run_lead<std::decay_t<Body>>(state_, lock_, detail::term_settings{address_, pauses()}, std::forward<Body>(body));
    }

    /// The same, and takes any completion token, on a strand of the client's executor. Completion signature: `void(std::exception_ptr)`,
    /// with what the coroutine throws.
    template <class Body, asio::completion_token_for<void(std::exception_ptr)> CompletionToken>
        requires detail::scope_body<std::decay_t<Body>, lease&>
    [[nodiscard]] auto lead(Body&& body, CompletionToken&& token) const
    {
        return asio::co_spawn(get_executor(), lead(std::forward<Body>(body)), std::forward<CompletionToken>(token));
    }

    /// Ends every `lead()` of this object and its copies: a running body is cancelled, the lock is released, and `lead()` completes without
    /// an error, unless the body throws something other than `operation_aborted`. Call `lead()` to campaign again.
    /// Thread safety: may be called from any thread.
    void resign() const { state_->resign(); }

    /// Returns who leads now, by asking the nodes once.
    ///
    /// Errors, thrown as `system_error`: those of `lock::peek()`.
    /// Completion signature: none; an `asio::awaitable<leader_info>`.
    /// Executor: that of the calling coroutine.
    /// Per-operation cancellation: the types that the calling coroutine allows, by default `terminal`, complete at once.
    [[nodiscard]] asio::awaitable<leader_info> leader() const { return look(lock_); }

    /// The same, and takes any completion token. Completion signature: `void(error_code, leader_info)`. Executor: the handler's associated
    /// executor, by default the client's.
    template <asio::completion_token_for<void(error_code, leader_info)> CompletionToken>
    [[nodiscard]] auto leader(CompletionToken&& token) const
    {
        // Where a token gets errors as exceptions, this is one already.
        auto const to_leader = [](auto const& problem, lock_peek const& what) { return asio::deferred.values(problem, in(what)); };
        if constexpr (detail::throws_errors<std::decay_t<CompletionToken>>) {
            auto seen = lock_.peek() | asio::deferred(to_leader);
            return std::move(seen)(std::forward<CompletionToken>(token));
        } else {
            auto seen = lock_.peek(asio::deferred) | asio::deferred(to_leader);
            return std::move(seen)(std::forward<CompletionToken>(token));
        }
    }

    /// Calls `on_change(leader_info const&)` with the present leader, and then with each change, also when nobody leads. `on_change`
    /// returns nothing, or an `asio::awaitable<void>`, which is awaited. A leader is reported once it has published its address. Of changes
    /// in quick succession, only the last may be reported. Nodes report changes (see `lock::wait_changed()`). While too few nodes answer,
    /// it waits for them.
    ///
    /// Lifetimes: `on_change` is copied or moved in.
    /// Errors, thrown as `system_error`: `errc::client_cancelled`, `asio::error::operation_aborted`, what `on_change` throws.
    /// Completion signature: none; an `asio::awaitable<void>`, which ends only with an error.
    /// Executor: `on_change` is called on the executor of the calling coroutine.
    /// Per-operation cancellation: the types that the calling coroutine allows, by default `terminal`, end it.
    template <class OnChange>
        requires std::invocable<std::decay_t<OnChange>&, leader_info const&>
    [[nodiscard]] asio::awaitable<void> observe(OnChange&& on_change) const
    {
        detail::require_named_body<OnChange>();
        return watch<std::decay_t<OnChange>>(lock_, std::forward<OnChange>(on_change));
    }

    /// The same, and takes any completion token, on the client's executor. Completion signature: `void(std::exception_ptr)`, with what the
    /// coroutine throws.
    template <class OnChange, asio::completion_token_for<void(std::exception_ptr)> CompletionToken>
        requires std::invocable<std::decay_t<OnChange>&, leader_info const&>
    [[nodiscard]] auto observe(OnChange&& on_change, CompletionToken&& token) const
    {
        return asio::co_spawn(get_executor(), observe(std::forward<OnChange>(on_change)), std::forward<CompletionToken>(token));
    }

private:
    detail::pause_bounds pauses() const noexcept { return {options_.min_pause, options_.max_pause}; }

    static asio::awaitable<leader_info> look(lock of);
    static leader_info in(lock_peek const& seen);

    // The first look waits for a majority like the later ones, because no result equals this one.
    static lock_peek nothing_yet();
    static asio::awaitable<lock_peek> next_change(lock of, lock_peek last);

    template <class OnChange>
    static asio::awaitable<void> watch(lock of, OnChange on_change)
    {
        lock_peek last = nothing_yet();
        std::optional<leader_info> told;
        for (;;) {
            auto change = next_change(of, std::move(last));
            last = co_await std::move(change);
            leader_info const now = in(last);
            if (told && *told == now) continue;
            told = now;
            if constexpr (std::is_void_v<std::invoke_result_t<OnChange&, leader_info const&>>) {
                on_change(now);
            } else {
                auto telling = on_change(now);
                co_await std::move(telling);
            }
        }
    }

    lock lock_;
    std::string address_;
    election_options options_;
    std::shared_ptr<detail::election_state> state_;
};

}  // namespace redlock

#endif
