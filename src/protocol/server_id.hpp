// The ids of servers, as requests with tokens carry them and nodes keep them in the record of their admission. R is the server's replication id.
//
//   R               a server of a set that was never changed
//   kKKK:R          the primary of a group, whose votes wait for K replicas (protocol/group_binding.hpp)
//   kKKK:cSSS:R     the same in a Redis Cluster that is used as S shards
//   gNNNhhhhhh:R    a member of a set that was changed: its generation N, and a hash of the members (quorum/sets/set_record.hpp)
//
// An id has 40 characters, as R has, so where something stands before R, its end is cut off. No replication id has a 'k' or a 'g'. No I/O.
#ifndef REDLOCK_PROTOCOL_SERVER_ID_HPP
#define REDLOCK_PROTOCOL_SERVER_ID_HPP

#include "quorum/sets/set_record.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace redlock::detail {

inline constexpr std::size_t bound_id_size = 40;
inline constexpr std::size_t bound_prefix_size = 5;  // "k001:"

// The K of a bound id; 0 for a replication id.
std::uint16_t replicas_in_id(std::string_view bound_id) noexcept;

// The S of a bound id; 0 outside of clusters.
std::uint16_t shards_in_id(std::string_view bound_id) noexcept;

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

// Whether it is the id of a member of a set that was changed.
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

}  // namespace redlock::detail

#endif
