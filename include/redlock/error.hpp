// Error codes, and the conditions that group them.
#ifndef REDLOCK_ERROR_HPP
#define REDLOCK_ERROR_HPP

#include <redlock/detail/export.hpp>

#include <boost/system/error_category.hpp>
#include <boost/system/error_code.hpp>
#include <boost/system/error_condition.hpp>
#include <boost/system/system_error.hpp>

#include <cstdint>
#include <type_traits>

namespace redlock {

using boost::system::error_code;
using boost::system::system_error;

/// The errors of operations, and the reasons why one node did not vote.
enum class errc : std::uint16_t {
    // Outcomes of an acquisition.
    contended = 1,  ///< Another holder has the lock: no node granted it, and so many refused that no majority was left.
    split_votes,  ///< Some nodes granted the lock, and so many refused that no majority was left: clients asked at the same moment, and
    ///< perhaps none of them has it; or another client has it on some nodes only. Rolled back; ask again after a random delay.
    no_majority,  ///< Too few nodes answered to know: nodes are down, slow or quarantined.
    validity_exhausted,  ///< A majority granted the lock, but too late to use it. Rolled back.
    acquire_timed_out,  ///< `lock_options::acquire_timeout` passed while another holder had the lock, or clients split the votes.
    acquire_timed_out_no_majority,  ///< `lock_options::acquire_timeout` passed while too few nodes voted to know who holds the lock.
    self_deadlock,  ///< The body of a `with_lock`, or an owner, asked for the lock that it holds, and would have waited for itself.

    // Ends of a lease.
    lease_lost,  ///< The lease expired or could not be kept: the critical section is no longer protected.
    max_hold_exceeded,  ///< `lock_options::max_hold` passed: the watchdog does not extend any more.
    not_held,  ///< The operation needs a lease, but this object is empty or was released.
    release_unconfirmed,  ///< Too few nodes answered the release. It continues; the keys expire within the ttl and the `lock_delay`.

    // The client.
    client_cancelled,  ///< `client::cancel()` was called, or the client was destroyed.
    client_not_running,  ///< `client::run()` was not called, so no node was asked.

    // A resource.
    stale_token,  ///< The fencing token is 0, or smaller than one that the resource has seen.

    // Why one node did not vote; in an `attempt_report`, and some in `client::status()`.
    node_unreachable,  ///< There is no usable connection to the node; `client::status()` has the reason.
    node_timeout,  ///< The node did not answer within `lock_options::node_timeout`.
    node_unsuitable,  ///< Locks are not safe on this server (for instance a replica, eviction, missing rights); the text names the remedy.
    node_duplicate,  ///< Another address of the configuration leads to the same server, which has only one vote.
    node_not_admitted,  ///< The node lost its data, or is new, and has no vote yet; the text says why and for how long.
    node_clock_stepped,  ///< The node's clock was set: its keys may have expired early, so it has no vote for a while.
    ttl_too_long,  ///< The node does not allow such a ttl: it was admitted with a smaller `config::max_ttl`.
    not_durable,  ///< The node granted, but not yet on enough replicas or on disk; rolled back. The text has the number.
    node_queue_full,  ///< The node does not keep up, and its queue is full: it was not asked.
    handshake_refused,  ///< The server refused HELLO: wrong or missing credentials, or a server older than Redis 6.
    not_a_redis_server,  ///< The server's answers are not in the Redis protocol.
    server_error,  ///< The server answered with an error; its text is in the report.
    unexpected_reply,  ///< The server answered with something that the protocol does not allow here.
    tls_failed,  ///< No TLS connection: an untrusted certificate or a missing file; the text says which.
    credentials_unavailable,  ///< The password is not where the configuration says, or `config::credentials` failed; the text says why.

    // Why `client::adopt()` failed.
    invalid_ticket,  ///< The text is not a ticket, or only a part of one: it was cut or altered.
    ticket_too_new,  ///< A newer version of this library wrote the ticket.
    ticket_of_other_nodes,  ///< The ticket is for a lock on other nodes than this client's.

    // Why `lease::publish()` or `lease::inherited()` failed.
    state_too_large,  ///< More than `max_state_size` bytes: nothing was published.
    state_unsupported,  ///< The lease cannot have a state: it has no tokens (`lock_options::fencing`), is a reader's, or has several names.
    // Semaphores.
    permits_differ,  ///< The nodes keep another number of permits than this client; `change_permits()` changes it.
    too_many_permits,  ///< The number of permits asked for is 0, or larger than the semaphore's.
    permits_changing,  ///< Another `change_permits()` of this semaphore was faster.

    // Sets of nodes.
    wrong_node_set,  ///< The client's list of nodes is not that of the set to which the servers belong; the text has the difference.
};

/// Groups of error codes, to compare with: `if (ec == redlock::condition::not_acquired)`.
enum class condition {
    not_acquired = 1,  ///< Nothing is held: `contended`, `unavailable`, self_deadlock, ttl_too_long, wrong_node_set, permits_differ,
    ///< too_many_permits, and the three codes of tickets.
    lost,  ///< lease_lost, max_hold_exceeded or client_cancelled: the critical section must end.
    node_failure,  ///< One node did not vote, for any reason.
    contended,  ///< contended, split_votes or acquire_timed_out: others have the lock or want it now. A web service answers 409.
    unavailable,  ///< no_majority, validity_exhausted, acquire_timed_out_no_majority or client_not_running: the holder cannot be known. A
    ///< web service answers 503.
    timed_out,  ///< acquire_timed_out or acquire_timed_out_no_majority: `lock_options::acquire_timeout` passed.
    unconfirmed,  ///< release_unconfirmed: the work was done while the lock was held; there is nothing to repeat.
};

/// The enumerator's name, for logs and labels: `contended`. Null for any other value.
REDLOCK_API char const* to_string(errc e) noexcept;

/// The category of `errc`. Thread-safe.
REDLOCK_API boost::system::error_category const& error_category() noexcept;

/// The category of `condition`. Thread-safe.
REDLOCK_API boost::system::error_category const& condition_category() noexcept;

/// Converts an `errc` to an `error_code`.
inline error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

/// Lets an `error_code` be compared with a `condition`.
inline boost::system::error_condition make_error_condition(condition c) noexcept { return {static_cast<int>(c), condition_category()}; }

}  // namespace redlock

template <>
struct boost::system::is_error_code_enum<redlock::errc> : std::true_type {};
template <>
struct boost::system::is_error_condition_enum<redlock::condition> : std::true_type {};

#endif
