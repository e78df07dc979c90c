// What an observer is told: one struct for each kind of event.
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

/// Lifetimes: `string_view`s and `span`s are valid until the call of the observer returns; copy what must last longer.
/// New members will be added at the end.
///
/// `at` is when it happened, in UTC, as this machine's wall clock shows it. Durations are measured with `boot_clock`.
/// `lock` is the name of the lock; of several names, all of them, separated by ", ".
/// `token` is the fencing token that the lease began with (of `overrun`: its present one), 0 without `lock_options::fencing`.
/// `node` is an address as in the configuration, without credentials.
/// `name` is the name of the struct, which logs use.
using time = std::chrono::sys_time<std::chrono::microseconds>;
using duration = std::chrono::nanoseconds;  ///< In nanoseconds, measured with `boot_clock`.

/// What a node had said to an attempt when it was decided. `pending`: it had not answered, and was not waited for.
struct node_vote {
    std::string_view node{};
    redlock::vote vote{redlock::vote::pending};  ///< Its vote.
};

/// Where a lease came from.
enum class origin : std::uint8_t {
    nodes,        ///< They were asked, and a majority granted.
    handoff,  ///< Another lease of this client was released, and passed on without asking them.
    nested,       ///< Its owner (`lock_options::owner`) holds the lock already.
    adopted,      ///< `client::adopt()`: it was detached here or elsewhere, and a majority gave it to this client.
};

/// The enumerator's name.
REDLOCK_API char const* to_string(origin o) noexcept;

/// A lease was handed out.
struct acquired {
    static constexpr std::string_view name{"acquired"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    event::origin origin{};              ///< Where it came from.
    duration waited{};                   ///< Since the start of the operation.
    std::uint32_t attempts{0};           ///< How often the nodes were asked for it, or the client itself refused it.
    duration valid_for{};                ///< What was left of its validity then.
    std::uint32_t nodes_held{0};         ///< On how many nodes the key is known to be ours.
    std::span<node_vote const> votes{};  ///< In the order of the configuration; empty unless `origin` is `nodes`.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// An attempt found that another holder has the lock. `acquire()` goes on waiting, unless it was the last of `lock_options::max_attempts`.
struct contended {
    static constexpr std::string_view name{"contended"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    bool by_this_client{false};          ///< Another lease of this client holds it, so that the nodes were not asked.
    duration waited{};                   ///< Since the start of the operation.
    std::uint32_t attempts{0};           ///< Up to now.
    std::span<node_vote const> votes{};  ///< In the order of the configuration; none if `by_this_client`.
    lock_mode mode{lock_mode::exclusive};  ///< How it was asked for.
};

/// An attempt failed for another reason.
struct attempt_failed {
    static constexpr std::string_view name{"attempt_failed"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    error_code
        why{};  ///< `errc::split_votes`, `no_majority`, `validity_exhausted`, `ttl_too_long`, `wrong_node_set`, `permits_differ` or `client_not_running`.
    duration waited{};  ///< Since the start of the operation.
    std::uint32_t attempts{0};  ///< Up to now.
    std::span<node_vote const> votes{};  ///< In the order of the configuration.
    lock_mode mode{lock_mode::exclusive};  ///< How it was asked for.
};

/// An `acquire()`, a `try_acquire()` or a `client::adopt()` ended without a lease.
struct not_acquired {
    static constexpr std::string_view name{"not_acquired"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    error_code why{};  ///< What the operation completed with.
    duration waited{};  ///< Since the start of the operation.
    std::uint32_t attempts{0};  ///< How many the operation made.
    lock_mode mode{lock_mode::exclusive};  ///< How it was asked for.
};

/// The body of a `with_lock`, or a `lock_options::owner`, would have waited for the lock that it has: it was told `errc::self_deadlock`.
struct self_deadlock {
    static constexpr std::string_view name{"self_deadlock"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
};

/// A majority extended a lease.
struct extended {
    static constexpr std::string_view name{"extended"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration took{};  ///< From the request to the majority's answers.
    duration valid_for{};  ///< What is left of its validity now.
    std::uint32_t nodes_held{0};  ///< On how many nodes the key is known to be ours.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// How an extension ended that no majority confirmed.
enum class extension_outcome : std::uint8_t {
    held,  ///< Fewer confirmed, but with earlier extensions the end of validity moved on.
    unknown,  ///< Too few answers. It is repeated while validity lasts.
    lost,  ///< A majority can no longer hold the lease: `lost` comes next.
};

/// The enumerator's name.
REDLOCK_API char const* to_string(extension_outcome o) noexcept;

/// No majority extended a lease.
struct extension_failed {
    static constexpr std::string_view name{"extension_failed"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    extension_outcome outcome{};  ///< How it ended.
    duration took{};  ///< From the request to its end.
    duration valid_for{};  ///< What is left of its validity now; not positive if nothing is.
    std::uint32_t nodes_held{0};  ///< On how many nodes the key is known to be ours.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// A lease ended before it was released: scopes are being cancelled.
struct lost {
    static constexpr std::string_view name{"lost"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    error_code why{};  ///< Condition `lost`.
    duration held_for{};  ///< Since it was handed out.
    duration valid_for{};  ///< What is left for stopping; not positive if nothing is.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// A lease was released on the nodes, by a release or because its object is gone. Of nested leases, the last one. A lost lease is
/// released as well, for the keys that may still be there.
struct released {
    static constexpr std::string_view name{"released"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration held_for{};  ///< Until the release began, or the lease was lost.
    duration took{};  ///< From then on.
    error_code result{};  ///< No error: a majority confirmed. Otherwise `errc::release_unconfirmed`, or why it was lost.
    bool was_lost{false};  ///< There was a `lost` before.
    lock_mode mode{lock_mode::exclusive};  ///< How it is held.
};

/// A released lease goes to the next of this client's waiters without asking the nodes: its `acquired` comes next.
struct handoff {
    static constexpr std::string_view name{"handoff"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};  ///< Of the one that was released.
    duration held_for{};  ///< Since it was handed out.
};

/// `lease::detach()`: the lease ended for this client, without a release. A process that has its ticket may go on with it.
struct detached {
    static constexpr std::string_view name{"detached"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration held_for{};  ///< Since it was handed out.
};

/// The body of a `with_lock` went on after its lease had ended.
struct overrun {
    static constexpr std::string_view name{"overrun"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration by{};  ///< From the end of the lease to that of the body.
};

/// The watchdog ran so late that a lease had ended meanwhile: this process was paused, or its executor was blocked.
struct watchdog_late {
    static constexpr std::string_view name{"watchdog_late"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::uint64_t token{0};
    duration by{};  ///< After the end of its validity.
};

/// A node granted after its attempt had ended: the grant was rolled back.
struct late_grant_undone {
    static constexpr std::string_view name{"late_grant_undone"};  ///< What logs call it.

    event::time at{};
    std::string_view lock{};
    std::string_view node{};
};

/// A node is connected, handshake done: it is asked for its vote from now on.
struct node_up {
    static constexpr std::string_view name{"node_up"};  ///< What logs call it.

    event::time at{};
    std::string_view node{};
    std::string_view text{};  ///< `node_status::address_text`.
};

/// A node's connection ended, or could not be made. Told again only when the reason changes.
struct node_down {
    static constexpr std::string_view name{"node_down"};  ///< What logs call it.

    event::time at{};
    std::string_view node{};
    error_code why{};  ///< What ended it.
    std::string_view text{};  ///< The same in words, with what the server said.
};

/// A connected node has no vote on locks with `lock_options::fencing`. Told again when `admission` changes.
struct node_excluded {
    static constexpr std::string_view name{"node_excluded"};  ///< What logs call it.

    event::time at{};
    std::string_view node{};
    redlock::admission_state admission{};  ///< Its new state.
    std::string_view text{};  ///< Why, for how long, and what to do.
};

/// A connected node votes on locks with `lock_options::fencing` from now on.
struct node_admitted {
    static constexpr std::string_view name{"node_admitted"};  ///< What logs call it.

    event::time at{};
    std::string_view node{};
};

/// The node had lost its data, as had most nodes, so that the others could not tell it which tokens it gave: this client lets them vote again on locks with
/// `lock_options::fencing`, with tokens from its wall clock (`config::after_majority_loss`). They had waited until earlier leases were over.
struct node_recovered {
    static constexpr std::string_view name{"node_recovered"};  ///< What logs call it.

    event::time at{};
    std::string_view node{};
};

/// A node's wall clock was set, so that it may not grant any lock for a while.
struct clock_stepped {
    static constexpr std::string_view name{"clock_stepped"};  ///< What logs call it.

    event::time at{};
    std::string_view node{};
    duration by{};  ///< At most; negative: back.
    std::string_view text{};  ///< For how long.
};

/// The observer did not keep up, so that so many events before this one were not kept for it.
struct dropped {
    static constexpr std::string_view name{"dropped"};  ///< What logs call it.

    event::time at{};
    std::uint64_t events{0};  ///< How many.
};

/// Any of them. New kinds will be added at the end.
using any = std::variant<acquired, contended, attempt_failed, not_acquired, self_deadlock, extended, extension_failed, lost, released,
                         handoff, overrun, watchdog_late, late_grant_undone, node_up, node_down, node_excluded, node_admitted,
                         clock_stepped, dropped, detached, node_recovered>;

}  // namespace redlock::event

#endif
