// The status of a client at one moment.
#ifndef REDLOCK_STATUS_HPP
#define REDLOCK_STATUS_HPP

#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redlock {

/// The state of the connection to one node.
enum class node_state : std::uint8_t {
    idle,  ///< `client::run()` was not called: not connected.
    connecting,  ///< The first connection is being made; requests wait for it.
    usable,  ///< Connected: it is asked for its vote.
    down,  ///< Not connected; the client retries with growing pauses, and the node's vote counts as failed at once.
};

/// The enumerator's name.
REDLOCK_API char const* to_string(node_state state) noexcept;

/// Whether a node votes on locks with `lock_options::fencing`. Irrelevant to other locks.
enum class admission_state : std::uint8_t {
    unknown,  ///< Not connected.
    admitted,  ///< It has its data, and votes.
    not_primary,   ///< It is a replica.
    unidentified,  ///< Its ACL forbids INFO and no other client has admitted it, or it is neither Redis nor Valkey
    ///< (`config::trust_server_identity`).
    uninitialized,  ///< It has no record of an admission, or lost it, and no client waits for it yet; the first lock with `fencing` begins
    ///< that.
    quarantined,  ///< It waits until every lease that it could have granted has expired.
    catching_up,  ///< It has waited, and now needs the high-water marks of tokens of ceil(N/2) nodes that have their data, or of others
    ///< that have waited.
    needs_operator,  ///< Too many nodes lost their data; only an operator can decide (`config::after_majority_loss`).
};

/// The enumerator's name.
REDLOCK_API char const* to_string(admission_state s) noexcept;

/// The status of one node.
struct node_status {
    std::string node;  ///< The address, without credentials.
    node_state state{node_state::connecting};  ///< The state of the connection.
    error_code last_error;  ///< Why the last connection ended or could not be made.
    std::string last_error_text;  ///< The same in words, with the server's text.
    std::uint64_t connects{0};  ///< How many times a connection became usable.
    redlock::admission_state admission{redlock::admission_state::unknown};  ///< Whether it votes on locks with `lock_options::fencing`.
    std::string admission_text;  ///< Why it has no vote, for how long, and what to do; empty if it has one.
    std::uint64_t clock_steps{0};  ///< How many times its wall clock was found to have been set, or to run implausibly.
    std::chrono::milliseconds last_clock_step{0};  ///< The last step; negative: back.
    std::string clock_text;  ///< Why it may not grant locks because of that, and for how long; empty if it may.
    std::string primary;  ///< The primary of a usable group (`node_address::sentinel`), as `host:port`. Otherwise empty.
    std::string login_text;  ///< Why open connections did not get new credentials yet (`config::credentials`). Otherwise empty.
    std::string address_text;  ///< What shows that several servers answer at the address, as behind a load balancer. Otherwise empty.
    std::size_t shard{0};  ///< The index of its set of nodes in `config::shards`.
    bool is_group{false};  ///< Whether it is a group, whose Sentinels may name another server next time.
};

/// Counters since the client was created. They only grow.
struct client_counters {
    std::uint64_t acquired{0};  ///< Leases acquired, of all kinds.
    std::uint64_t handoffs{0};  ///< Of these, leases handed over within the client.
    std::uint64_t nested{0};  ///< Of these, nested leases of an owner.
    std::uint64_t confirmations{0};  ///< Attempts that needed a second round for their token, because the nodes' counters differed.
    std::uint64_t permit_moves{0};  ///< Attempts that needed a second round for permits, because the nodes gave different slots.
    std::uint64_t contended{0};  ///< Attempts that ended with `errc::contended` or `errc::split_votes`.
    std::uint64_t no_majority{0};  ///< Attempts that ended with `errc::no_majority`.
    std::uint64_t validity_exhausted{0};  ///< Attempts that ended with `errc::validity_exhausted`.
    std::uint64_t wakeups{0};  ///< Attempts made because a node reported a change.
    std::uint64_t polls{0};  ///< Times that a waiting client asked without a report.
    std::uint64_t self_deadlocks{0};  ///< Acquisitions that failed with `errc::self_deadlock`.
    std::uint64_t late_grants_undone{0};  ///< Grants that arrived after their attempt had ended; rolled back.
    std::uint64_t extensions_renewed{0};  ///< Extensions that a majority confirmed.
    std::uint64_t extensions_held{0};  ///< Extensions that fewer nodes confirmed, after which the validity still grew thanks to earlier
    ///< ones.
    std::uint64_t extensions_unknown{0};  ///< Extensions with too few answers; repeated while the lease is valid.
    std::uint64_t extensions_lost{0};  ///< Extensions after which a majority could no longer hold the lease.
    std::uint64_t recreated{0};  ///< Keys that were missing on a node and were set again.
    std::uint64_t released{0};  ///< Releases that a majority confirmed.
    std::uint64_t releases_unconfirmed{0};  ///< Releases that too few nodes answered; the keys expire.
    std::uint64_t leases_lost{0};  ///< Leases that ended before they were released.
    std::uint64_t clock_steps{0};  ///< Times that a node's wall clock was found to have been set (`node_status::clock_text`).
    std::uint64_t overruns{0};  ///< Bodies of `with_lock` that outlived their lease.
    std::uint64_t watchdog_late{0};  ///< Times that the watchdog ran after a lease had ended.
    std::chrono::nanoseconds max_overrun{0};  ///< The longest time by which a body outlived its lease.
    std::uint64_t events_dropped{0};  ///< Events dropped because the observer did not keep up.
};

/// The result of `client::status()`.
struct client_status {
    std::vector<node_status> nodes;  ///< In the order of the configuration.
    client_counters counters;  ///< Since the client was created.
    std::size_t leases{0};  ///< Leases held now.
    std::size_t waiting{0};  ///< Acquisitions in progress.
    std::size_t releases_pending{0};  ///< Releases that some nodes have not answered yet.
};

}  // namespace redlock

#endif
