// The options of a lock: lock_options, and the owner of nested leases.
#ifndef REDLOCK_OPTIONS_HPP
#define REDLOCK_OPTIONS_HPP

#include <redlock/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace redlock {

/// Identifies an owner of locks, for `lock_options::owner`. An owner is neither a thread nor a coroutine, because coroutines move between
/// threads and call each other: all locks with the same `owner_id` have the same owner.
struct owner_id {
    std::uint64_t value{0};  ///< 0: no owner.

    friend bool operator==(owner_id, owner_id) = default;
};

/// Returns an id that no other call in this process returns. Thread-safe.
REDLOCK_API owner_id new_owner() noexcept;

/// The options of a lock, for designated initialisers: `redlock::lock{client, "name", {.ttl = 30s}}`.
///
/// Durations are in milliseconds; coarser `std::chrono` durations convert implicitly. The constructor of `lock` throws
/// `std::invalid_argument` for a value out of bounds; the text names the member.
struct lock_options {
    /// How long a node keeps the lock after the holder's last message. 10 ms to 30 days; with `fencing`, at most `config::max_ttl`. Choose
    /// it longer than a usual network interruption, and short enough to wait for after a crash of the holder. It need not cover the work:
    /// the watchdog extends the lease.
    std::chrono::milliseconds ttl{10'000};

    /// Whether the lease gets a fencing token, and nodes that lost their data are quarantined. Keep it on, and check tokens where the data
    /// is, if work must never run twice at the same time (correctness). If it rarely may (efficiency), `false` gives the plain lock of the
    /// Redlock page, which costs a server a third as much. Both kinds of lock, and those of other libraries, exclude each other.
    bool fencing{true};

    /// How many tokens an acquisition reserves; `lease::next_token()` moves to the next one. 1 to 1,000,000.
    std::uint32_t token_block{1};

    /// How much faster a node's clock may run than this machine's, as a fraction of the ttl. 0 to 0.5. The default of 1 % covers the error
    /// of quartz clocks, slewing by ntpd and leap smear, but not clock steps. A lease is valid for `ttl * (1 - clock_drift)` minus 2 ms,
    /// because servers count whole milliseconds. The detection of clock steps and the length of a quarantine use the largest value among
    /// the client's locks.
    double clock_drift{0.01};

    /// How much longer than `ttl` the nodes keep the lock of a holder that sends no more messages (a lock-delay: Burrows, "The Chubby lock
    /// service", OSDI 2006, section 2.4). 0 to 30 days, together with `ttl`; with `fencing`, both together at most `config::max_ttl`.
    /// Validity is counted from `ttl` alone, so a step of a server's clock by less than `lock_delay` ends no lease early. In return, other
    /// clients wait that much longer after a crash of the holder, but not after a release.
    std::chrono::milliseconds lock_delay{0};

    /// How long one node may take to answer, including its wait for `replicas` or `fsync`, before its vote counts as failed. 1 ms to ttl.
    /// Keep it far below the ttl, so that a dead node costs little. Default: ttl/20, but at least 5 ms and at most 500 ms (the Redlock
    /// page: 5 to 50 ms for a ttl of 10 s).
    std::optional<std::chrono::milliseconds> node_timeout{};

    /// How long `acquire()` waits at most, from its start. 1 ms to 365 days. Default: no limit.
    std::optional<std::chrono::milliseconds> acquire_timeout{};

    /// How many attempts `acquire()` makes at most; 0: no limit. With a limit, `acquire()` favours an early answer over getting the lock:
    /// it neither waits in the client's queue nor for changes that nodes report, but repeats the attempt after a random delay.
    std::uint32_t max_attempts{0};

    /// The bounds of the random delay before the next attempt, where waiting for a change is no use: the votes were split, too few nodes
    /// answered, or the nodes report no changes. Each delay is drawn between `min_retry_delay` and three times the previous delay
    /// (decorrelated jitter), so that clients that split the votes are unlikely to split them again. 1 ms to 1 day.
    std::chrono::milliseconds min_retry_delay{2};
    std::chrono::milliseconds max_retry_delay{1'000};  ///< See `min_retry_delay`; not below it.

    /// How long a waiting client relies on the nodes to report changes before it asks them itself. If a report is lost, the client loses at
    /// most this time. 1 ms to 1 day.
    std::chrono::milliseconds poll_interval{5'000};

    /// How many times in a row a client hands a lease over to its own next waiting acquisition, without asking the nodes, before other
    /// clients get their turn. 0 (never) to 1,000,000. The acquisition must have the same options, except `acquire_timeout`,
    /// `max_attempts`, the retry delays, `poll_interval`, `max_local_hold` and `owner`. With `fencing`, each attempt reserves tokens for
    /// all these handoffs; with values much larger than the default, the counters outrun the clocks, which costs a second round trip.
    std::uint32_t max_handoffs{64};

    /// The same limit as a time: how long a client keeps a lock from other clients, by handoffs or by winning again and again, before they
    /// get their turn. 0 to 1 day.
    std::chrono::milliseconds max_local_hold{100};

    /// The owner of the leases. If the same owner already holds the lock through the same client, an acquisition gets a nested lease at
    /// once. Nested leases share the lock and the token; the release of the last one releases the lock. An acquisition that cannot share
    /// the owner's lease fails with `errc::self_deadlock`: one with tokens inside one without, or one on other names that overlap. It waits
    /// instead if the outer lease ends by itself (`max_hold`, or no `auto_extend`).
    /// Default: no owner. Then a coroutine that acquires a lock that it already holds waits for itself, until its `acquire_timeout` or
    /// forever; in the body of a `with_lock` it fails at once with `errc::self_deadlock`.
    owner_id owner{};

    /// Whether the watchdog extends the lease. If not, the lease ends with its validity, unless the program calls `lease::extend()`.
    bool auto_extend{true};

    /// How often the watchdog extends the lease. 1 ms to ttl/2, so that a failed extension can be repeated in time; with `auto_extend`,
    /// less than the validity − `stop_margin`, so that the first extension is in time. Default: ttl/3.
    std::optional<std::chrono::milliseconds> extend_interval{};

    /// How long before the end of its validity a lease that could not be extended counts as lost. `with_lock` cancels its body at that
    /// moment, so this is the time that the body has to stop. From 0, less than ttl/2, and less than the validity. Default: ttl/10.
    std::optional<std::chrono::milliseconds> stop_margin{};

    /// How long the watchdog keeps a lease at most, from its acquisition; then the lease counts as lost, so that a holder that hangs does
    /// not exclude all others forever. 1 ms to 365 days. Default: no limit.
    std::optional<std::chrono::milliseconds> max_hold{};

    friend bool operator==(lock_options const&, lock_options const&) = default;
};

static_assert(std::is_trivially_copyable_v<lock_options> && std::is_trivially_destructible_v<lock_options>,
              "g++ 12 destroys non-trivial temporaries twice inside co_await expressions");

/// Throws `std::invalid_argument` if a member is out of bounds. The text names the first such member and says why.
REDLOCK_API void validate(lock_options const& options);

}  // namespace redlock

#endif
