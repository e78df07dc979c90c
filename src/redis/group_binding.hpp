// A group is a primary and its replicas. Clients whose votes wait for K replicas bind everything that they do with tokens to the primary's replication id
// and to K, so that clients with another K get no vote there: rule 3 of "Failover of a replicated group" in docs/proof.md. In a Redis Cluster they
// bind it to the number S of shards, too. No I/O.
#ifndef REDLOCK_REDIS_GROUP_BINDING_HPP
#define REDLOCK_REDIS_GROUP_BINDING_HPP

#include "quorum/node_facts.hpp"
#include "quorum/set_record.hpp"
#include "redis/node.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

class group_binding {
public:
    // `shards`: of a Redis Cluster; else 0.
    explicit group_binding(std::uint16_t replicas, std::uint16_t shards = 0) noexcept : replicas_{replicas}, shards_{shards} {}

    // The id that requests with tokens carry and that the node's record keeps. With K = 0 it is the replication id. Otherwise it is "kKKK:" and as much of
    // the replication id as makes 40 characters; in a cluster it is "kKKK:cSSS:". No replication id has a 'k', so that clients of older versions refuse such a record.
    std::string id_of(std::string_view replication_id) const;

    // Puts the bound id into what a node tells of itself. If the record was made by clients with another K, the node has no id for this client, and the
    // facts say why. A record with K = 0 is no obstacle: the node is quarantined and admitted anew, with this K.
    void apply(quorum::node_facts& facts) const;
    void apply(std::vector<reply>& replies) const;

private:
    std::string objection_to(std::string_view admitted) const;

    std::uint16_t replicas_;
    std::uint16_t shards_;
};

// The K of a bound id; 0 for a replication id.
std::uint16_t replicas_of(std::string_view bound_id) noexcept;

// The S of a bound id; 0 outside of clusters.
std::uint16_t shards_of(std::string_view bound_id) noexcept;

inline constexpr std::size_t bound_id_size = 40;
inline constexpr std::size_t bound_prefix_size = 5;  // "k001:"

// Whether it is an id with a K.
inline bool is_bound(std::string_view id) noexcept
{
    return id.size() == bound_id_size && id[0] == 'k' && id[bound_prefix_size - 1] == ':';
}

// Whether it has an S behind that.
inline bool is_of_cluster(std::string_view id) noexcept
{
    return is_bound(id) && id[bound_prefix_size] == 'c' && id[2 * bound_prefix_size - 1] == ':';
}

// Whether it is the id of a member of a set that was changed (quorum/set_record.hpp).
inline bool is_of_generation(std::string_view id) noexcept
{
    return id.size() > quorum::set_binding_size && id[0] == 'g' && id[quorum::set_binding_size - 1] == ':';
}

// The id of the server with this replication id, where its record of the set has that binding.
inline std::string id_in_generation(std::string_view binding, std::string_view replication_id)
{
    return std::string{binding}.append(replication_id).substr(0, binding.empty() ? std::string::npos : bound_id_size);
}

// Whether the server with this replication id is the one that `bound_id` names.
inline bool names_server(std::string_view bound_id, std::string_view replication_id) noexcept
{
    if (is_of_generation(bound_id)) {
        auto const server = bound_id.substr(quorum::set_binding_size);
        return bound_id.size() == bound_id_size ? replication_id.starts_with(server) : replication_id == server;  // ids of tests are short
    }
    if (!is_bound(bound_id)) return bound_id == replication_id;
    return replication_id.starts_with(bound_id.substr(is_of_cluster(bound_id) ? 2 * bound_prefix_size : bound_prefix_size));
}

// Votes that wait for K replicas are safe in a group of at most 2K + 1 servers: any K + 1 servers and any other K + 1 have one in common. `connected`:
// replicas of the primary. None: there are not too many.
std::optional<std::string> objection_to_group(std::uint32_t connected, std::uint16_t replicas);

}  // namespace redlock::detail

#endif
