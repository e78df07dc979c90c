// The options of a lock: lock_options, and the owner of nested leases.
#ifndef REDLOCK_OPTIONS_HPP
#define REDLOCK_OPTIONS_HPP

#include <redlock/detail/export.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <type_traits>

namespace redlock {

/// Identifies an owner of locks, for `lock_options::owner`. An owner is no thread and no coroutine, since coroutines move between threads and call
/// each other: all locks that get the same `owner_id` have the same owner.
struct owner_id {
    std::uint64_t value{0};  ///< 0: no owner.

    friend bool operator==(owner_id, owner_id) = default;
};

/// Returns an id that no other call in this process returns. Thread-safe.
REDLOCK_API owner_id new_owner() noexcept;

/// The options of a lock, made for designated initialisers: `redlock::lock{client, "name", {.ttl = 30s}}`.
///
/// The type must stay trivially copyable, since g++ 12 destroys some non-trivial temporaries twice inside `co_await` expressions. Every duration is
/// in milliseconds on the wire; coarser `std::chrono` durations convert implicitly. The constructor of `lock` refuses values that make no sense
/// (`std::invalid_argument`, whose text names the member).
struct lock_options {
    /// How long a node keeps the lock without a message from the holder. 10 ms to 30 days; with `fencing`, `config::max_ttl` at the most.
    /// It should be longer than an interruption of the network usually lasts, and short enough to wait for if a holder has crashed. It need not cover
    /// the work, since the watchdog extends the lease.
    std::chrono::milliseconds ttl{10'000};

    /// Whether the lease gets a fencing token. If so, nodes that lost their data have no vote while they are quarantined. Switch it on, and check
    /// tokens where the data is, for work that must never be done twice at the same time (correctness). Without it the lock is the plain one of the
    /// Redlock page, which costs a server a third as much; that is enough for work that may rarely be done twice (efficiency). Locks of both kinds,
    /// and of other libraries, exclude each other.
    bool fencing{true};

    /// How many tokens an acquisition reserves; `lease::next_token()` moves to the next one. 1 to 1,000,000.
    std::uint32_t token_block{1};

    /// How much faster a node's clock may run than this machine's, as a fraction of ttl; 0 to 0.5. 1 % covers the error of quartz clocks, the slewing
    /// of ntpd and leap smear, but not clocks that are set. The validity of a lease is `ttl * (1 - clock_drift)` less 2 ms, because servers count in
    /// whole milliseconds. What the client takes for a step of a node's clock, and the length of a quarantine, allow for the largest of its locks' values.
    double clock_drift{0.01};

    /// How much longer than `ttl` the nodes keep the lock of a holder that sends no messages any more (a lock-delay: Burrows, "The Chubby lock
    /// service", OSDI 2006, section 2.4). Validity is counted from `ttl` alone. So a server's clock that is set forward by less than `lock_delay`
    /// ends no lease early. In return, other clients wait so much longer after a crash of the holder. A release frees the lock at once, as without
    /// `lock_delay`. 0 up to 30 days together with `ttl`; with `fencing`, both together `config::max_ttl` at the most.
    std::chrono::milliseconds lock_delay{0};

    /// How long one node may take to answer, its wait for `replicas` included, before its vote counts as failed. It should be far below ttl, so that
    /// a dead node costs little. 1 ms to ttl. Default: ttl/20, but 5 ms at least and 500 ms at most (Redlock's page: 5 to 50 ms for a ttl of 10 s).
    std::optional<std::chrono::milliseconds> node_timeout{};

    /// How long `acquire()` waits at most, from its start. 1 ms to 365 days. Default: as long as it takes.
    std::optional<std::chrono::milliseconds> acquire_timeout{};

    /// How many attempts `acquire()` makes at most; 0: as many as it takes. With a limit, `acquire()` prefers an early answer to the lock: it does
    /// not wait in the queue behind other acquisitions of this client, and does not wait until nodes tell of changes, but makes the next attempt
    /// after a random delay.
    std::uint32_t max_attempts{0};

    /// The bounds of the random delay before the next attempt if waiting for a change makes no sense: the votes were split, too few nodes answered,
    /// or the nodes do not tell of changes. Each delay is drawn between `min_retry_delay` and three times the delay before (decorrelated jitter), so
    /// that clients that split the votes do not split them again. 1 ms to 1 day.
    std::chrono::milliseconds min_retry_delay{2};
    std::chrono::milliseconds max_retry_delay{1'000};  ///< See `min_retry_delay`.

    /// How long a waiting client relies on nodes that tell it of changes, before it asks them. If such a message gets lost, the client loses this
    /// time at most. 1 ms to 1 day.
    std::chrono::milliseconds poll_interval{5'000};

    /// How many times in a row a client hands a lease over to the next of its own acquisitions that wait, without asking the nodes, before other
    /// clients get their turn. 0: never; up to 1,000,000. Only acquisitions get the lease whose options shape it in the same way: `acquire_timeout`,
    /// `max_attempts`, the retry delays, `poll_interval`, `max_local_hold` and `owner` may differ. With `fencing` each attempt reserves
    /// tokens for all these handoffs. Much larger values than the default let the counters outrun the clocks, which costs a second round trip.
    std::uint32_t max_handoffs{64};

    /// The same as a time: how long a client keeps a lock from other clients, by handoffs or by being first again and again, before other clients get
    /// their turn. 0 to 1 day.
    std::chrono::milliseconds max_local_hold{100};

    /// The owner of the leases. An acquisition of a lock that the same owner holds already, through the same client, gets a nested lease at once.
    /// Nested leases share the lock and the token, and the lock is released with the last of them. What the owner's lease cannot be shared with, it is
    /// told at once (`errc::self_deadlock`): a lock with tokens inside one without, or other names of which it holds some. Not if the lease ends by
    /// itself, without `auto_extend` or with `max_hold`. Default: no owner. Then a coroutine that acquires a lock that it holds waits for itself until its
    /// `acquire_timeout`, or for ever; in the body of a `with_lock` it fails at once (`errc::self_deadlock`).
    owner_id owner{};

    /// Whether the watchdog extends the lease. Otherwise the lease ends after its validity, unless the program calls `lease::extend()`.
    bool auto_extend{true};

    /// How often the watchdog extends the lease. 1 ms to ttl/2, so that a failed extension can be repeated in time, and less than the validity less
    /// `stop_margin`, so that the first extension comes in time. Default: ttl/3.
    std::optional<std::chrono::milliseconds> extend_interval{};

    /// How long before the end of its validity a lease that could not be extended counts as lost. At that moment `with_lock` cancels its body, so
    /// this is the time that the body has for stopping. Less than ttl/2. Default: ttl/10.
    std::optional<std::chrono::milliseconds> stop_margin{};

    /// How long the watchdog keeps a lease at most, from its acquisition. Then the lease counts as lost, so that a holder that hangs does not exclude
    /// all others for ever. 1 ms to 365 days. Default: no limit.
    std::optional<std::chrono::milliseconds> max_hold{};

    friend bool operator==(lock_options const&, lock_options const&) = default;
};

static_assert(std::is_trivially_copyable_v<lock_options> && std::is_trivially_destructible_v<lock_options>,
              "g++ 12 destroys non-trivial temporaries twice inside co_await expressions");

/// Throws `std::invalid_argument` if a member makes no sense. The text names the first such member, and says why.
REDLOCK_API void validate(lock_options const& options);

}  // namespace redlock

#endif
