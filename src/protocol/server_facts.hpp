// The facts that a server tells about itself, and the check whether it can be a node at all. The handshake and suitability_watch use both. No I/O.
#ifndef REDLOCK_PROTOCOL_SERVER_FACTS_HPP
#define REDLOCK_PROTOCOL_SERVER_FACTS_HPP

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

// The value of a line "name:value" in an answer to INFO; empty if there is none.
std::string_view field_of_info(std::string_view text, std::string_view name);

// A member is empty if the server does not tell it, or if the user may not ask.
struct server_facts {
    std::string mode;  // of HELLO: standalone, cluster, sentinel
    std::string role;  // of HELLO: master, replica; of INFO replication: master, slave
    std::string run_id;  // of INFO server: a random id of the server's process
    std::string uptime;  // of INFO server, in seconds
    std::string maxmemory;
    std::string maxmemory_policy;
    std::string version;  // of HELLO
    std::string replicas;  // of INFO replication: how many are connected

    std::optional<std::uint32_t> connected_replicas() const;
    std::optional<std::chrono::seconds> running_for() const;

    // One field of the answer to HELLO.
    void read_hello(std::string_view key, std::string_view value);

    // Reads any sections of INFO; members that they do not name stay as they are.
    void read_info(std::string_view text);
};

// Why locks are not safe on this server, and what to do about it; none if the server can be a node. `in_cluster`: it has to be a member of a Redis
// Cluster; otherwise it must not be one.
std::optional<std::string> objection_to(server_facts const& facts, bool in_cluster = false);

// The same of the primary of a group. Votes that wait for K replicas are safe in a group of at most 2K + 1 servers: any K + 1 servers and any other K + 1
// have one in common. `connected`: replicas of the primary.
std::optional<std::string> objection_to_group(std::uint32_t connected, std::uint16_t replicas);

// The objection to a server that is not in a cluster, but should be.
std::string no_cluster_here();

// The objection to a replica.
std::string why_not_a_replica();

}  // namespace redlock::detail

#endif
