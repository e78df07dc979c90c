// Which shard looks after a lock. Pure: every client, of every version and on every machine, has to choose the same one.
#ifndef REDLOCK_CLIENT_SHARD_CHOICE_HPP
#define REDLOCK_CLIENT_SHARD_CHOICE_HPP

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace redlock::detail {

// The part of a key that decides: what stands between the first '{' and the next '}', if that is not empty; otherwise all of the key. Redis Cluster
// does the same (Redis Cluster specification, "Hash tags").
std::string_view hash_tag(std::string_view key) noexcept;

// Rendezvous hashing over 0 … shards - 1: one more shard takes only the keys that it gets. Precondition: `shards` is not 0.
// Source: Thaler and Ravishankar, "Using Name-Based Mappings to Increase Hit Rates", IEEE/ACM Transactions on Networking 6(1), 1998.
std::size_t shard_of(std::string_view key, std::size_t shards) noexcept;

// The shard of all keys of a lock. Throws std::invalid_argument if they are in several.
std::size_t shard_of(std::string_view first, std::span<std::string const> others, std::size_t shards);

}  // namespace redlock::detail

#endif
