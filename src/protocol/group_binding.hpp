// A group is a primary and its replicas. Clients whose votes wait for K replicas bind everything that they do with tokens to the primary's replication id
// and to K, so that clients with another K get no vote there: rule 3 of "Failover of a replicated group" in docs/proof.md. In a Redis Cluster they
// bind it to the number S of shards, too. No I/O.
#ifndef REDLOCK_PROTOCOL_GROUP_BINDING_HPP
#define REDLOCK_PROTOCOL_GROUP_BINDING_HPP

#include "protocol/reply.hpp"
#include "quorum/node_facts.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

class group_binding {
public:
    // `shards`: of a Redis Cluster; else 0.
    explicit group_binding(std::uint16_t replicas, std::uint16_t shards = 0) noexcept : replicas_{replicas}, shards_{shards} {}

    // The id that requests with tokens carry and that the node's record keeps. With K = 0 it is the replication id. Otherwise it is "kKKK:" and as much of
    // the replication id as makes 40 characters; in a cluster it is "kKKK:cSSS:". No replication id has a 'k', so that clients of older
    // versions refuse such a record.
    std::string id_of(std::string_view replication_id) const;

    // Puts the bound id into what a node tells of itself. If the record was made by clients with another K, the node has no id for this client, and the
    // facts say why; so it is where the set of the node was changed. Otherwise a record with K = 0 is no obstacle: the node is quarantined and admitted anew,
    // with this K.
    void apply(quorum::node_facts& facts) const;
    void apply(std::vector<reply>& replies) const;

private:
    std::string objection_to(quorum::node_facts const& facts) const;

    std::uint16_t replicas_;
    std::uint16_t shards_;
};

}  // namespace redlock::detail

#endif
