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

/// What an operation of this library, or one node of it, can report.
enum class errc : std::uint16_t {
    // Outcomes of an acquisition.
    contended = 1,       ///< No node granted it, and so many refused that no majority was left: another holder has the lock.
    split_votes,         ///< Some nodes granted it and so many refused that no majority was left: clients asked at the same moment, and
    ///< perhaps none of them has the lock; or another client has it on some nodes only. It was rolled back; ask again after a random delay.
    no_majority,  ///< Too few nodes answered to know: nodes are down, slow, or refuse to work.
    validity_exhausted,  ///< A majority granted, but so late that nothing was left of the lease. It was rolled back.
    acquire_timed_out,  ///< `lock_options::acquire_timeout` passed while another holder had the lock, or clients got in each other's way.
    acquire_timed_out_no_majority,  ///< `lock_options::acquire_timeout` passed while too few nodes voted to know who holds the lock.
    self_deadlock,  ///< The body of a `with_lock`, or an owner, asked for the lock that it has, and would have waited for itself.

    // Ends of a lease.
    lease_lost,  ///< The lease could not be kept, or ended: the critical section is no longer protected.
    max_hold_exceeded,  ///< `lock_options::max_hold` passed: the watchdog stopped extending on purpose.
    not_held,  ///< The operation needs a lease, but this object is empty or was released.
    release_unconfirmed,  ///< Too few nodes answered the release; it goes on, and the keys expire within the ttl and the `lock_delay`.

    // The client.
    client_cancelled,  ///< `client::cancel()` was called, or the client was destroyed.
    client_not_running,  ///< `client::run()` was not called, so no node was asked.

    // A resource.
    stale_token,  ///< The fencing token is 0, or smaller than one that the resource has seen: nothing was written.

    // Why one node did not vote; found in an `attempt_report` and in `client::status()`.
    node_unreachable,  ///< No usable connection to the node at the moment.
    node_timeout,  ///< The node did not answer within `lock_options::node_timeout`.
    node_unsuitable,  ///< Locks are not safe on this server (a cluster, a replica, eviction); the text names the remedy.
    node_duplicate,  ///< Another address of the configuration leads to the same server, which has one vote only.
    node_not_admitted,  ///< The node lost its data, or is new: it has no vote yet; the text says for how long, and why.
    node_clock_stepped,  ///< The node's clock was set: what it kept may have expired early, so it may not grant anything for a while.
    ttl_too_long,  ///< The node does not allow a ttl like that: it was admitted with a smaller `config::max_ttl`.
    not_durable,  ///< It granted, but too few replicas, or its disk, have it yet: its grant is rolled back. The text says how many.
    node_queue_full,  ///< The node is not keeping up: its queue is full, so it was not asked.
    handshake_refused,  ///< The server refused HELLO: a wrong or missing password, or a server older than Redis 6.
    not_a_redis_server,  ///< What the server sent is not the Redis protocol.
    server_error,  ///< The server answered with an error; the text is in the report.
    unexpected_reply,  ///< The server answered with something that the protocol does not allow here.
    tls_failed,  ///< No connection with TLS: a certificate that is not believed, or a file that is not there; the text says which.
    credentials_unavailable,  ///< The password is not where the configuration says, or `config::credentials` failed; the text says why.

    // Why `client::adopt()` did not try, or could not succeed.
    invalid_ticket,  ///< The text is no ticket, or not all of one: it was cut or altered.
    ticket_too_new,  ///< A newer version of this library wrote the ticket.
    ticket_of_other_nodes,  ///< The ticket is of a lock on other nodes than this client's.

    // Why `lease::publish()` or `lease::inherited()` did not try.
    state_too_large,  ///< More than `max_state_size` bytes: nothing was published.
    state_unsupported,  ///< No state goes with this lease: it has no tokens (`lock_options::fencing`), is a reader's, or of several names.
    // Semaphores.
    permits_differ,  ///< The nodes keep another number of permits for this semaphore than this client says; `change_permits()` changes it.
    too_many_permits,  ///< No permit was asked for, or more than the semaphore has: that could never be granted.
    permits_changing,  ///< Another `change_permits()` of this semaphore came first.

    // Sets of nodes.
    wrong_node_set,  ///< The client's list of nodes is not that of the set to which the servers belong; the text says what differs.
};

/// Groups of error codes, to compare with: `if (ec == redlock::condition::not_acquired)`.
enum class condition {
    not_acquired = 1,  ///< Nothing is held: codes of `contended`, `unavailable`, tickets and permits; self_deadlock, ttl_too_long,
    ///< wrong_node_set.
    lost,  ///< lease_lost, max_hold_exceeded or client_cancelled: the critical section must end.
    node_failure,  ///< Any reason why one node did not vote.
    contended,  ///< contended, split_votes or acquire_timed_out: others have the lock, or want it now. A web service answers 409.
    unavailable,  ///< no_majority, validity_exhausted, acquire_timed_out_no_majority or client_not_running: the holder cannot be known. 503.
    timed_out,  ///< acquire_timed_out or acquire_timed_out_no_majority: `lock_options::acquire_timeout` passed.
    unconfirmed,  ///< release_unconfirmed: the work was done while the lock was held, and there is nothing to repeat.
};

/// The enumerator's name, `contended`: for logs and labels that programs read. Null for a value that is none.
REDLOCK_API char const* to_string(errc e) noexcept;

/// The category of `errc`. Thread-safe.
REDLOCK_API boost::system::error_category const& error_category() noexcept;

/// The category of `condition`. Thread-safe.
REDLOCK_API boost::system::error_category const& condition_category() noexcept;

/// So that an `errc` is an `error_code`.
inline error_code make_error_code(errc e) noexcept { return {static_cast<int>(e), error_category()}; }

/// So that an `error_code` compares with a `condition`.
inline boost::system::error_condition make_error_condition(condition c) noexcept { return {static_cast<int>(c), condition_category()}; }

}  // namespace redlock

template <>
struct boost::system::is_error_code_enum<redlock::errc> : std::true_type {};
template <>
struct boost::system::is_error_condition_enum<redlock::condition> : std::true_type {};

#endif
