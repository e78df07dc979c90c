// Which server of a Redis Cluster serves which slot, from the answer to CLUSTER NODES. All versions of Redis and Valkey give that answer, and unlike
// CLUSTER SLOTS and CLUSTER SHARDS it says how new each claim to a slot is (the configuration epoch). No I/O.
#ifndef REDLOCK_NODE_CLUSTER_CLUSTER_MAP_HPP
#define REDLOCK_NODE_CLUSTER_CLUSTER_MAP_HPP

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::detail {

inline constexpr std::uint16_t cluster_slots = 16'384;

// The key on a cluster that keeps the number of shards, for shards that have no record yet.
inline constexpr std::string_view cluster_shards_key = "{redlock}:shards";
inline constexpr std::string_view cluster_shards_tag = "redlock";

// The slot of all keys whose part in braces is this (Redis Cluster specification, "Key distribution model").
std::uint16_t slot_of_tag(std::string_view tag) noexcept;

// What the keys of a shard begin with: "{s17}:". All of them are in one slot.
std::string prefix_of_shard(std::size_t shard);
std::uint16_t slot_of_shard(std::size_t shard);

// The shard whose prefix a key has; none: it has no such prefix. Takes the prefix off the key.
std::optional<std::size_t> take_shard_off(std::string_view& key);

struct slot_range {
    std::uint16_t first;
    std::uint16_t last;
};

struct cluster_server {
    std::string id;
    std::string host;  // empty: it does not know its own address
    std::string name;  // the host name that it announces; empty: none
    std::uint16_t port{0};
    bool asked{false};  // it gave this answer
    bool primary{false};
    bool failing{false};  // most primaries say that it is down
    bool silent{false};  // it is down for the server that was asked, at least
    std::string primary_id;  // of a replica
    std::uint64_t epoch{0};  // of its claim to slots
    std::vector<slot_range> slots{};

    bool has(std::uint16_t slot) const noexcept;
};

// A slot that is being moved away.
struct slot_in_migration {
    std::uint16_t slot;
    std::string to;  // id
};

struct cluster_map {
    std::vector<cluster_server> servers;
    std::vector<slot_in_migration> in_migration;  // as the server that was asked says; others have others

    // None: nobody serves the slot.
    cluster_server const* owner_of(std::uint16_t slot) const noexcept;
    std::size_t covered() const noexcept;  // slots that somebody serves
    std::vector<cluster_server const*> replicas_of(cluster_server const& primary) const;

    // k: half of the servers of the largest group. All groups have the same k, since a slot can move from one to another with its record.
    std::uint16_t acknowledgements() const;

    // Whether most primaries are down for the server that was asked: the others may have moved on without it.
    bool is_cut_off() const noexcept;
};

// None: the text is no answer to CLUSTER NODES. `asked_host`: where it comes from.
std::optional<cluster_map> read_cluster_nodes(std::string_view text, std::string const& asked_host);

// What a server's error says of the slot. `move` has the address of the new owner behind it.
enum class redirection : std::uint8_t { none, moved, asking, try_again, down };
redirection redirection_in(std::string_view error) noexcept;

// The address in "MOVED 1234 host:port"; none: there is none, or the server does not know it.
struct host_port {
    std::string host;
    std::uint16_t port{0};
};
std::optional<host_port> address_in_moved(std::string_view error);

// The words of such an error with what it means.
std::string explained(std::string_view error);

}  // namespace redlock::detail

#endif
