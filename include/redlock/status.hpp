// A picture of a client at one moment.
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

/// What a client knows about one node.
enum class node_state : std::uint8_t {
    idle,        ///< `client::run()` was not called: nothing connects.
    connecting,  ///< The first connection is being made; requests wait for it.
    usable,      ///< Connected, handshake done: it is asked for its vote.
    down,        ///< Not connected, trying again with growing pauses; its vote counts as failed at once.
};

/// The enumerator's name.
REDLOCK_API char const* to_string(node_state state) noexcept;

/// Whether a node votes on locks with `lock_options::fencing`. It makes no difference to other locks.
enum class admission_state : std::uint8_t {
    unknown,       ///< It is not connected.
    admitted,      ///< It has its data: it votes.
    not_primary,   ///< It is a replica.
    unidentified,  ///< Its rules forbid INFO, and no other client has admitted it;
                   ///< or it is neither Redis nor Valkey (`config::trust_server_identity`).
    uninitialized, ///< It has no record of an admission, or lost it; no client waits for it yet. That begins with the first lock.
    quarantined,   ///< It waits until every lease that it could have granted has expired.
    catching_up,   ///< It has waited. It needs the token marks of ceil(N/2) nodes that have their data, or others that have waited.
    needs_operator,///< So many nodes lost their data that only an operator can say what was lost (`config::after_majority_loss`).
};

/// The enumerator's name.
REDLOCK_API char const* to_string(admission_state s) noexcept;

/// What a client knows about one node, in words and figures.
struct node_status {
    std::string node;            ///< The address, without credentials.
    node_state state{node_state::connecting};  ///< Whether it can be asked.
    error_code last_error;       ///< Why the last connection ended or could not be made.
    std::string last_error_text; ///< The same in words, with what the server said.
    std::uint64_t connects{0};   ///< How often a connection became usable.
    redlock::admission_state admission{redlock::admission_state::unknown};  ///< Whether it votes on locks with `lock_options::fencing`.
    std::string admission_text;  ///< Why it has no vote, for how long, and what to do; empty when it has one.
    std::uint64_t clock_steps{0};  ///< How often its wall clock was found to have been set, or to run as no clock should.
    std::chrono::milliseconds last_clock_step{0};  ///< How far, the last time; negative: back.
    std::string clock_text;  ///< Why it may not grant locks because of that, and for how long; empty when it may.
    std::string
        primary;  ///< Of a group (`node_address::sentinel`) that is usable: the server that is its primary, as `host:port`. Otherwise empty.
    std::string
        login_text;  ///< Why what `config::credentials` gave could not be renewed on open connections; the client repeats the attempt. Empty when all is well.
    std::string address_text;  ///< What showed that several servers answer at the address, as behind a load balancer; empty: nothing did.
    std::size_t shard{0};  ///< The index in `config::shards` of the set of nodes that the node belongs to.
    bool is_group{false};  ///< Whether it is a group, whose Sentinels may name another server the next time.
};

/// Counters since the client was made. They only grow.
struct client_counters {
    std::uint64_t acquired{0};  ///< Leases handed out.
    std::uint64_t handoffs{0};  ///< Of these, leases that were passed on within the client.
    std::uint64_t nested{0};  ///< Of these, nested leases of an owner.
    std::uint64_t confirmations{0};  ///< Attempts whose token needed a second round, since the nodes' counters differed.
    std::uint64_t permit_moves{0};  ///< Attempts to acquire permits that needed a second round, since nodes had given different slots.
    std::uint64_t contended{0};  ///< Attempts that ended with `errc::contended` or `errc::split_votes`.
    std::uint64_t no_majority{0};  ///< Attempts that ended with `errc::no_majority`.
    std::uint64_t validity_exhausted{0};  ///< Attempts that ended with `errc::validity_exhausted`.
    std::uint64_t wakeups{0};  ///< Attempts that were made because a node told of a change.
    std::uint64_t polls{0};  ///< Times a waiting client looked by itself.
    std::uint64_t self_deadlocks{0};  ///< Acquisitions that would wait for their own scope or owner: `errc::self_deadlock`.
    std::uint64_t late_grants_undone{0};  ///< Grants that arrived after their attempt had ended, and were rolled back.
    std::uint64_t extensions_renewed{0};  ///< Extensions that a majority confirmed.
    std::uint64_t extensions_held{0};  ///< Less than a majority, but with earlier ones validity still grew.
    std::uint64_t extensions_unknown{0};  ///< Too few answers; repeated while validity lasts.
    std::uint64_t extensions_lost{0};  ///< A majority could no longer hold the lease.
    std::uint64_t recreated{0};  ///< Keys that were missing on a node and were set there again.
    std::uint64_t released{0};  ///< Releases that a majority confirmed.
    std::uint64_t releases_unconfirmed{0};  ///< Releases that too few nodes answered; the keys expire by themselves.
    std::uint64_t leases_lost{0};  ///< Leases that ended before they were released.
    std::uint64_t clock_steps{0};  ///< Times that a node's wall clock was found to have been set; see `node_status::clock_text`.
    std::uint64_t overruns{0};  ///< Bodies of `with_lock` that went on after their lease had ended.
    std::uint64_t watchdog_late{0};  ///< Times the watchdog ran so late that a lease had ended meanwhile.
    std::chrono::nanoseconds max_overrun{0};  ///< The longest time by which a body outlived its lease.
    std::uint64_t events_dropped{0};  ///< Events that were not kept for the observer, as it did not keep up.
};

/// What `client::status()` answers.
struct client_status {
    std::vector<node_status> nodes;  ///< In the order of the configuration.
    client_counters counters;  ///< Since the client was made.
    std::size_t leases{0};  ///< Leases that are held now.
    std::size_t waiting{0};  ///< Acquisitions under way.
    std::size_t releases_pending{0};  ///< Releases that not all nodes have answered yet.
};

}  // namespace redlock

#endif
