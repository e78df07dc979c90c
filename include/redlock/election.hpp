// One leader at a time: who campaigns, leads as long as that can be proven, steps down in time, and campaigns again; and who leads now.
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
    /// Of the lock that the leader holds. `stop_margin` is the time that a leader has to step down, and the ttl the time after which another one leads if
    /// it crashes. By default a leader does not hand its lock over within its client, since each term has a token of its own: if you set
    /// `lock`, set `max_handoffs = 0`.
    lock_options lock{.max_handoffs = 0, .max_local_hold = std::chrono::milliseconds{0}};

    /// The bounds of the random pause before a candidate that has lost its leadership campaigns again, so that others come first. 0 ms to 1 hour.
    std::chrono::milliseconds min_pause{100};
    std::chrono::milliseconds max_pause{1000};  ///< See `min_pause`. Not below it.

    friend bool operator==(election_options const&, election_options const&) = default;
};

static_assert(std::is_trivially_copyable_v<election_options> && std::is_trivially_destructible_v<election_options>,
              "g++ 12 destroys non-trivial temporaries twice inside co_await expressions");

/// Who leads, as far as somebody else can know.
struct leader_info {
    bool leads{false};  ///< Somebody leads. Otherwise the other members are empty.
    std::string address{};  ///< As the leader published it.
    std::uint64_t token{0};  ///< The fencing token of its term: what another leader does later has a larger one.
    std::string host{};  ///< Where it runs, as it says itself.
    std::uint64_t pid{0};  ///< Its process.
    std::string label{};  ///< Its `config::label`.
    std::optional<std::chrono::system_clock::time_point> since{};  ///< When it began to campaign for this term, in seconds of its clock.

    /// Whether somebody leads.
    explicit operator bool() const noexcept { return leads; }

    friend bool operator==(leader_info const&, leader_info const&) = default;
};

/// An election among all processes that use the same name on the same nodes. The leader is who holds the lock of that name.
///
/// A cheap handle; copies belong together: `resign()` of one ends what another does.
///
/// Lifetimes: may outlive the client object; operations then end with `errc::client_cancelled`.
/// Thread safety: const members may be called from any thread at the same time.
class REDLOCK_API election {
public:
    using executor_type = asio::any_io_executor;  ///< The type of the client's executor.

    /// The name as of a `lock`. `address` is what is published while this candidate leads, for `election::observe()`: mostly where it can be reached. Up to
    /// `max_state_size` bytes; it may be empty, as for who only observes. Throws `std::invalid_argument` as the constructor of `lock` does, if the address is
    /// larger, if a pause makes no sense, or if `lock_options::fencing` is off (a term needs a token, and its address a fence).
    election(client const& owner, std::string name, std::string address = {}, election_options const& options = {});

    /// The client's executor.
    executor_type get_executor() const noexcept { return lock_.get_executor(); }

    /// The name of the lock.
    std::string_view name() const noexcept { return lock_.name(); }

    /// Campaigns until this process leads, publishes the address, and runs `body(lease&)`, which returns an `asio::awaitable<void>`, as `with_lock` does: it
    /// is cancelled `stop_margin` before somebody else may lead. A leadership that is lost is no end: after a random pause this campaigns again.
    ///
    /// Completes without an error when the body has returned while it led, or after `resign()`. Then the lock is released, and others lead. A body that has
    /// returned while it led does not run again, whatever becomes of the release.
    ///
    /// Preconditions: the calling coroutine has an executor whose context is running.
    /// Lifetimes: copies what it needs of this object; the body is copied or moved in, and runs once for each term. As with `with_lock`, g++ before 13 needs
    /// a body with captures to have a name.
    /// Completion signature: none of its own: it is an `asio::awaitable<void>`; `co_spawn` it to use any other completion token.
    /// Executor: the body runs on a strand of the caller's executor, and its cancellation is emitted there.
    /// Per-operation cancellation: the caller's cancellations end the campaign, or reach the body with their types, as of `with_lock`; the lock is released
    /// before this completes with `operation_aborted`.
    /// Errors, thrown as `system_error`: `errc::client_cancelled`; `errc::ttl_too_long`, `errc::wrong_node_set` and `errc::self_deadlock`
    /// of `lock::acquire()`; what the body throws while it leads. Not: a lost lease, what the body throws after that, and nodes that do not
    /// answer.
    /// Thread safety: as the coroutine that calls it.
    template <class Body>
        requires detail::scope_body<std::decay_t<Body>, lease&>
    [[nodiscard]] asio::awaitable<void> lead(Body&& body) const
    {
        detail::require_named_body<Body>();
        return detail::run_lead<std::decay_t<Body>>(state_, lock_, detail::term_settings{address_, pauses()}, std::forward<Body>(body));
    }

    /// The same, and for any completion token, on a strand of the client's executor. Completion signature: `void(std::exception_ptr)`, which has what the coroutine
    /// would throw.
    template <class Body, asio::completion_token_for<void(std::exception_ptr)> CompletionToken>
        requires detail::scope_body<std::decay_t<Body>, lease&>
    [[nodiscard]] auto lead(Body&& body, CompletionToken&& token) const
    {
        return asio::co_spawn(get_executor(), lead(std::forward<Body>(body)), std::forward<CompletionToken>(token));
    }

    /// Ends every `lead()` of this object and its copies: a body that runs is cancelled, the lock is released, and `lead()` completes without an error, unless
    /// the body throws something other than `operation_aborted`. Does nothing if there is none. Call `lead()` to campaign again.
    /// Thread safety: may be called from any thread.
    void resign() const { state_->resign(); }

    /// Who leads now: one look at the nodes.
    ///
    /// Preconditions: `client::run` is called, before or within `lock_options::node_timeout`.
    /// Lifetimes: copies what it needs of this object.
    /// Completion signature: none of its own: it is an `asio::awaitable<leader_info>`.
    /// Executor: the executor of the calling coroutine.
    /// Per-operation cancellation: the types that the calling coroutine observes, by default `terminal`, complete at once.
    /// Errors, thrown as `system_error`: those of `lock::peek()`.
    /// Thread safety: as the coroutine that calls it.
    [[nodiscard]] asio::awaitable<leader_info> leader() const { return look(lock_); }

    /// The same, and for any completion token. Completion signature: `void(error_code, leader_info)`. Executor: the handler's associated executor, by default the
    /// client's.
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

    /// Calls `on_change(leader_info const&)` with who leads now, and then whenever that changes, also to nobody. `on_change` returns nothing, or an
    /// `asio::awaitable<void>`, which is awaited. A leader is reported when it has published its address. Not every leader need be seen: of changes that
    /// come quickly the last one is. The nodes tell of changes (`lock::wait_changed()`).
    ///
    /// Preconditions: `client::run` is called, before or while it waits.
    /// Lifetimes: copies what it needs of this object; `on_change` is copied or moved in.
    /// Completion signature: none of its own: it is an `asio::awaitable<void>`, which ends only with an error.
    /// Executor: `on_change` is called on the executor of the calling coroutine.
    /// Per-operation cancellation: the types that the calling coroutine observes, by default `terminal`, end it with `operation_aborted`.
    /// Errors, thrown as `system_error`: `errc::client_cancelled`; what `on_change` throws. While too few nodes answer it waits for them, and says nothing.
    /// Thread safety: as the coroutine that calls it.
    template <class OnChange>
        requires std::invocable<std::decay_t<OnChange>&, leader_info const&>
    [[nodiscard]] asio::awaitable<void> observe(OnChange&& on_change) const
    {
        detail::require_named_body<OnChange>();
        return watch<std::decay_t<OnChange>>(lock_, std::forward<OnChange>(on_change));
    }

    /// The same, and for any completion token, on the client's executor. Completion signature: `void(std::exception_ptr)`, which has what the coroutine would throw.
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

    // The first look waits for a majority, as the later ones do: nothing that is seen equals this.
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
