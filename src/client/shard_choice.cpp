#include "client/shard_choice.hpp"

#include <boost/hash2/xxhash.hpp>

#include <cassert>
#include <cstdint>
#include <stdexcept>
#include <string>

namespace redlock::detail {

std::string_view hash_tag(std::string_view key) noexcept
{
    auto const open = key.find('{');
    if (open == key.npos) return key;
    auto const close = key.find('}', open + 1);
    return close == key.npos || close == open + 1 ? key : key.substr(open + 1, close - open - 1);
}

std::size_t shard_of(std::string_view key, std::size_t shards) noexcept
{
    assert(shards > 0);
    auto const tag = hash_tag(key);
    std::size_t best = 0;
    std::uint64_t best_score = 0;
    for (std::size_t i = 0; i < shards; ++i) {
        boost::hash2::xxhash_64 hash{std::uint64_t{i}};
        hash.update(tag.data(), tag.size());
        auto const score = hash.result();
        if (i > 0 && score <= best_score) continue;
        best = i;
        best_score = score;
    }
    return best;
}

std::size_t shard_of(std::string_view first, std::span<std::string const> others, std::size_t shards)
{
    auto const chosen = shard_of(first, shards);
    for (std::string const& key : others)
        if (auto const other = shard_of(key, shards); other != chosen)
            throw std::invalid_argument{
                "redlock::lock: the names are in several shards (\"" + std::string{first} + "\" in shard " + std::to_string(chosen) +
                ", \"" + key + "\" in shard " + std::to_string(other) +
                "), which cannot be locked in one step; give all of them the same part in braces, as in {order:7}:stock"};
    return chosen;
}

}  // namespace redlock::detail
