// What can be chosen for a lock.
#ifndef REDLOCK_OPTIONS_HPP
#define REDLOCK_OPTIONS_HPP

#include <redlock/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace redlock {

/// Who asks, for `lock_options::owner`. Not a thread and not a coroutine, since coroutines move between threads and call each other:
/// whoever is given the same owner counts as the same.
struct owner_id {
    std::uint64_t value{0};  ///< 0: nobody.

    friend bool operator==(owner_id, owner_id) = default;
};

/// One that no other call in this process returns. Thread-safe.
REDLOCK_API owner_id new_owner() noexcept;

/// The options of a lock, made for designated initialisers: `redlock::lock{client, "name", {.ttl = 30s}}`.
///
/// Trivially copyable, and kept so: g++ 12 destroys some non-trivial temporaries twice inside `co_await` expressions.
/// Every duration is in milliseconds on the wire; coarser `std::chrono` durations convert by themselves. A value that
/// makes no sense is refused by the constructor of `lock` (`std::invalid_argument`, the text names the member).
struct lock_options {
    /// How long a node keeps the lock without hearing from us. 10 ms to 30 days; with `fencing`, `config::max_ttl` at the most.
    /// Long enough to ride out a hiccup of the network, short enough to wait for when a holder crashed; the watchdog renews it, so it need not cover the work.
    std::chrono::milliseconds ttl{10'000};

    /// Whether the lease gets a fencing token, and only nodes that remember may vote. Off: the plain lock of the Redlock page, which
    /// costs a server a third as much, for work that may be done twice once in a while (efficiency). On, and tokens checked where the
    /// data is: for work that must not (correctness). Holders of both kinds, and of other libraries, exclude each other.
    bool fencing{true};

    /// How many tokens an acquisition reserves; `lease::next_token()` moves through them. 1 to 1,000,000.
    std::uint32_t token_block{1};

    /// How much faster a node's clock may run than ours, as a fraction of ttl; 0 to 0.5. 1 % covers crystals, ntpd's
    /// slewing and leap smear, not steps. The validity of a lease is `ttl * (1 - clock_drift)` less 2 ms, because servers
    /// count in whole milliseconds.
    double clock_drift{0.01};

    /// How much longer than `ttl` the nodes keep the lock of a holder that is not heard of any more (a lock-delay: Burrows, "The Chubby lock
    /// service", OSDI 2006, section 2.4). Validity is counted from `ttl` alone: a server's clock that is set forward by less than
    /// `lock_delay` ends no lease early, and a crash costs those who wait so much more. A release frees the lock at once all the same.
    /// 0 up to 30 days together with `ttl`; with `fencing`, both together `config::max_ttl` at the most.
    std::chrono::milliseconds lock_delay{0};

    /// How long one node may take to answer, its wait for `replicas` included, before its vote counts as failed. Far below ttl, so that a dead
    /// node costs little. 1 ms to ttl. Default: ttl/20, within 5 and 500 ms (Redlock's page: 5 to 50 ms for a ttl of 10 s).
    std::optional<std::chrono::milliseconds> node_timeout{};

    /// How long `acquire()` waits at most, from its start. 1 ms to 365 days. Default: as long as it takes.
    std::optional<std::chrono::milliseconds> acquire_timeout{};

    /// How often `acquire()` tries at most; 0: as often as it takes. With a number, an answer soon counts more than the lock: it does not
    /// stand in line behind others of this client and waits for no news of the nodes, but tries again after each random delay.
    std::uint32_t max_attempts{0};

    /// The bounds of the random delay before the next try where waiting for a change makes no sense: the votes were split, too few
    /// nodes answered, or they tell of no changes (decorrelated jitter: each delay is drawn between `min_retry_delay` and three
    /// times the one before). 1 ms to 1 day. Random, so that clients who split the votes do not split them again.
    std::chrono::milliseconds min_retry_delay{2};
    std::chrono::milliseconds max_retry_delay{1'000};  ///< See `min_retry_delay`.

    /// How long a waiting client whose nodes tell it of changes trusts them before it looks by itself: what a message that got lost
    /// costs at most. 1 ms to 1 day.
    std::chrono::milliseconds poll_interval{5'000};

    /// How often a client passes a lease on to the next of its own waiters, without asking the nodes, before it gives the others their
    /// turn. 0: never; up to 1,000,000. Only to waiters with the same options. With `fencing` each acquisition reserves tokens for them;
    /// far more than that let the counters outrun the clocks, and cost a second round trip.
    std::uint32_t max_handoffs{64};

    /// The same as a time: how long a client keeps a lock from other clients, by passing it on or by being first again and again,
    /// before it gives them their turn. 0 to 1 day.
    std::chrono::milliseconds max_local_hold{100};

    /// Whoever asks for a lock that the same owner holds, through the same client, gets a nested lease at once: the same hold and the same
    /// token, counted, and given back when the last lease of it is. Default: nobody, and a coroutine that asks again for what it
    /// holds waits for itself until its `acquire_timeout`, or for ever; in the body of a `with_lock` it is told so at once (`errc::self_deadlock`).
    owner_id owner{};

    /// Whether the watchdog keeps the lease alive. Without it the lease ends by itself, unless `lease::extend()` is called.
    bool auto_extend{true};

    /// How often the watchdog extends. 1 ms to ttl/2, so that a failed extension can be repeated in time, and less than the
    /// validity less `stop_margin`, so that the first one comes in time. Default: ttl/3.
    std::optional<std::chrono::milliseconds> extend_interval{};

    /// How long before the end of its validity a lease that could not be extended counts as lost, which is when the scope
    /// of `with_lock` is cancelled. It is the time that the body has for stopping. Less than ttl/2. Default: ttl/10.
    std::optional<std::chrono::milliseconds> stop_margin{};

    /// How long the watchdog keeps a lease at most, from its acquisition; then it counts as lost, so that a holder that
    /// hangs does not keep everybody else out for ever. 1 ms to 365 days. Default: no limit.
    std::optional<std::chrono::milliseconds> max_hold{};

    friend bool operator==(lock_options const&, lock_options const&) = default;
};

static_assert(std::is_trivially_copyable_v<lock_options> && std::is_trivially_destructible_v<lock_options>,
              "g++ 12 destroys non-trivial temporaries twice inside co_await expressions");

/// Throws `std::invalid_argument` whose text names the first member that makes no sense, and why.
REDLOCK_API void validate(lock_options const& options);

}  // namespace redlock

#endif
