// A group is a primary and its replicas. Clients whose votes wait for K replicas bind everything that they do with tokens to the primary's replication id
// and to K, so that clients with another K get no vote there: rule 3 of "Failover of a replicated group" in docs/proof.md. No I/O.
#ifndef REDLOCK_REDIS_GROUP_BINDING_HPP
#define REDLOCK_REDIS_GROUP_BINDING_HPP

#include "quorum/node_facts.hpp"
#include "redis/node.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

class group_binding {
public:
    explicit group_binding(std::uint16_t replicas) noexcept : replicas_{replicas} {}

    // The id that requests with tokens carry and that the node's record keeps. With K = 0 it is the replication id. Otherwise it is "kKKK:" and as much of
    // the replication id as makes 40 characters. No replication id has a 'k', so that clients of older versions refuse such a record.
    std::string id_of(std::string_view replication_id) const;

    // Puts the bound id into what a node tells of itself. If the record was made by clients with another K, the node has no id for this client, and the
    // facts say why. A record with K = 0 is no obstacle: the node is quarantined and admitted anew, with this K.
    void apply(quorum::node_facts& facts) const;
    void apply(std::vector<reply>& replies) const;

private:
    std::uint16_t replicas_;
};

// The K of a bound id; 0 for a replication id.
std::uint16_t replicas_of(std::string_view bound_id) noexcept;

// Whether the server with this replication id is the one that `bound_id` names.
bool names_server(std::string_view bound_id, std::string_view replication_id) noexcept;

// Votes that wait for K replicas are safe in a group of at most 2K + 1 servers: any K + 1 servers and any other K + 1 have one in common. `connected`:
// replicas of the primary. None: there are not too many.
std::optional<std::string> objection_to_group(std::uint32_t connected, std::uint16_t replicas);

}  // namespace redlock::detail

#endif
