// The events that an observer receives: one struct for each kind.
#ifndef REDLOCK_EVENT_HPP
#define REDLOCK_EVENT_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>
#include <redlock/lock_mode.hpp>
#include <redlock/status.hpp>

#include <chrono>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace redlock::event {

/// Lifetimes: `string_view`s and `span`s are valid until the call of the observer returns; copy what must last longer. New members will be
/// added at the end.
///
/// `at` is when it happened, in UTC, by this machine's wall clock. Durations are measured with `boot_clock`.
/// `lock` is the name of the lock; several names are separated by ", ".
/// `token` is the fencing token with which the lease began (`overrun`: its present one), 0 without `lock_options::fencing`.
/// `node` is an address as in the configuration, without credentials.
/// `name` is the name of the struct, used in logs.
using time = std::chrono::sys_time<std::chrono::microseconds>;
using duration = std::chrono::nanoseconds;  ///< In nanoseconds, measured with `boot_clock`.

/// A node's answer to an attempt when the attempt was decided. `pending`: it had not answered, and was not waited for.
struct node_vote {
    std::string_view node{};
    redlock::vote vote{redlock::vote::pending};  ///< Its vote.
};

/// The origin of a lease.
enum class origin : std::uint8_t {
    nodes,  ///< A majority of the nodes granted it.
    handoff,  ///< Another lease of this client was released and handed over, without asking the nodes.
    nested,  ///< Its owner (`lock_options::owner`) already holds the lock.
    adopted,  ///< `client::adopt()`: the lease was detached, by this or another process, and a majority gave it to this client.
};

/// The enumerator's name.
REDLOCK_API char const* to_string(origin o) noexcept;

/// A lease was acquired.
struct acquired {
    static constexpr std::string_view name{"acquired"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    event::origin origin{};  ///< The origin of the lease.
    duration waited{};                   ///< Since the start of the operation.
    std::uint32_t attempts{0};  ///< How many attempts were made, including those that the client itself refused.
    duration valid_for{};  ///< The validity left.
    std::uint32_t nodes_held{0};  ///< On how many nodes the key is known to be the lease's.
    std::span<node_vote const> votes{};  ///< In the order of the configuration; empty unless `origin` is `nodes`.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// An attempt found that another holder has the lock. `acquire()` keeps waiting, unless it was the last of `lock_options::max_attempts`.
struct contended {
    static constexpr std::string_view name{"contended"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    bool by_this_client{false};  ///< Whether another lease of this client holds it, so that the nodes were not asked.
    duration waited{};                   ///< Since the start of the operation.
    std::uint32_t attempts{0};  ///< So far.
    std::span<node_vote const> votes{};  ///< In the order of the configuration; none if `by_this_client`.
    lock_mode mode{lock_mode::exclusive};  ///< How it was asked for.
};

/// An attempt failed for another reason.
struct attempt_failed {
    static constexpr std::string_view name{"attempt_failed"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    /// `errc::split_votes`, `no_majority`, `validity_exhausted`, `ttl_too_long`, `wrong_node_set`, `permits_differ` or `client_not_running`.
    error_code why{};
    duration waited{};  ///< Since the start of the operation.
    std::uint32_t attempts{0};  ///< So far.
    std::span<node_vote const> votes{};  ///< In the order of the configuration.
    lock_mode mode{lock_mode::exclusive};  ///< How it was asked for.
};

/// An `acquire()`, a `try_acquire()` or a `client::adopt()` ended without a lease. Not for an `adopt()` that failed before the nodes were
/// asked.
struct not_acquired {
    static constexpr std::string_view name{"not_acquired"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    error_code why{};  ///< What the operation completed with.
    duration waited{};  ///< Since the start of the operation.
    std::uint32_t attempts{0};  ///< How many the operation made.
    lock_mode mode{lock_mode::exclusive};  ///< How it was asked for.
};

/// An acquisition failed with `errc::self_deadlock`: the body of a `with_lock`, or a `lock_options::owner`, would have waited for the lock
/// that it holds.
struct self_deadlock {
    static constexpr std::string_view name{"self_deadlock"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
};

/// A majority extended a lease.
struct extended {
    static constexpr std::string_view name{"extended"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration took{};  ///< From the request to the answers of a majority.
    duration valid_for{};  ///< The validity left.
    std::uint32_t nodes_held{0};  ///< On how many nodes the key is known to be the lease's.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// The outcome of an extension that no majority confirmed.
enum class extension_outcome : std::uint8_t {
    held,  ///< Fewer nodes confirmed, but together with earlier extensions the validity grew.
    unknown,  ///< Too few nodes answered. Repeated while the lease is valid.
    lost,  ///< A majority can no longer hold the lease: `lost` follows.
};

/// The enumerator's name.
REDLOCK_API char const* to_string(extension_outcome o) noexcept;

/// No majority extended a lease.
struct extension_failed {
    static constexpr std::string_view name{"extension_failed"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    extension_outcome outcome{};  ///< How it ended.
    duration took{};  ///< From the request to its end.
    duration valid_for{};  ///< The validity left; not positive if there is none.
    std::uint32_t nodes_held{0};  ///< On how many nodes the key is known to be the lease's.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// A lease ended before it was released: its scope is being cancelled.
struct lost {
    static constexpr std::string_view name{"lost"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    error_code why{};  ///< One of condition `lost`.
    duration held_for{};  ///< Since it was acquired.
    duration valid_for{};  ///< The time left to stop; not positive if there is none.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// A lease was released on the nodes, explicitly or because its object was destroyed; of nested leases, the last one. Lost leases are
/// released too, because some of their keys may still exist.
struct released {
    static constexpr std::string_view name{"released"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration held_for{};  ///< Until the release began or the lease was lost.
    duration took{};  ///< From the start of the release to its end.
    error_code result{};  ///< No error: a majority confirmed. Otherwise `errc::release_unconfirmed`, or why the lease was lost.
    bool was_lost{false};  ///< Whether a `lost` preceded.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// A released lease is handed over to the next waiter of this client, without asking the nodes: its `acquired` follows.
struct handoff {
    static constexpr std::string_view name{"handoff"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};  ///< Of the released lease.
    duration held_for{};  ///< Since it was acquired.
};

/// `lease::detach()`: the lease ended for this client without a release. A process that has the ticket may adopt it.
struct detached {
    static constexpr std::string_view name{"detached"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration held_for{};  ///< Since it was acquired.
};

/// The body of a `with_lock` outlived its lease.
struct overrun {
    static constexpr std::string_view name{"overrun"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration by{};  ///< From the end of the lease to the end of the body.
};

/// The watchdog ran after a lease had ended: this process was paused, or its executor was blocked.
struct watchdog_late {
    static constexpr std::string_view name{"watchdog_late"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration by{};  ///< Since the end of the validity.
};

/// A node granted after its attempt had ended; rolled back.
struct late_grant_undone {
    static constexpr std::string_view name{"late_grant_undone"};  ///< Its name in logs.

    event::time at{};
    std::string_view lock{};
    std::string_view node{};
};

/// A node is connected, and is asked for its vote from now on.
struct node_up {
    static constexpr std::string_view name{"node_up"};  ///< Its name in logs.

    event::time at{};
    std::string_view node{};
    std::string_view text{};  ///< `node_status::address_text`.
};

/// A node's connection ended or could not be made. While the node stays down, reported again only if the reason or its text changes.
struct node_down {
    static constexpr std::string_view name{"node_down"};  ///< Its name in logs.

    event::time at{};
    std::string_view node{};
    error_code why{};  ///< The reason.
    std::string_view text{};  ///< The reason in words, with the server's text.
};

/// A connected node has no vote on locks with `lock_options::fencing`. Reported again only if `admission` changes.
struct node_excluded {
    static constexpr std::string_view name{"node_excluded"};  ///< Its name in logs.

    event::time at{};
    std::string_view node{};
    redlock::admission_state admission{};  ///< Its new state.
    std::string_view text{};  ///< The reason, for how long, and what to do.
};

/// A connected node votes on locks with `lock_options::fencing` from now on.
struct node_admitted {
    static constexpr std::string_view name{"node_admitted"};  ///< Its name in logs.

    event::time at{};
    std::string_view node{};
};

/// Most nodes, including this one, had lost their data, so the others could not supply the tokens that it granted. After waiting for
/// earlier leases to end, this client lets the node vote again on locks with `lock_options::fencing`, with tokens from its wall clock
/// (`config::after_majority_loss`).
struct node_recovered {
    static constexpr std::string_view name{"node_recovered"};  ///< Its name in logs.

    event::time at{};
    std::string_view node{};
};

/// A node's wall clock was set, so it may not grant locks for a while.
struct clock_stepped {
    static constexpr std::string_view name{"clock_stepped"};  ///< Its name in logs.

    event::time at{};
    std::string_view node{};
    duration by{};  ///< By at most this much; negative: back.
    std::string_view text{};  ///< For how long.
};

/// The observer did not keep up: events before this one were dropped.
struct dropped {
    static constexpr std::string_view name{"dropped"};  ///< Its name in logs.

    event::time at{};
    std::uint64_t events{0};  ///< How many.
};

/// Any event. New kinds will be added at the end.
using any = std::variant<acquired, contended, attempt_failed, not_acquired, self_deadlock, extended, extension_failed, lost, released,
                         handoff, overrun, watchdog_late, late_grant_undone, node_up, node_down, node_excluded, node_admitted,
                         clock_stepped, dropped, detached, node_recovered>;

}  // namespace redlock::event

#endif
