// Which keys on a node are those of locks whose names match a pattern. No I/O.
#ifndef REDLOCK_CLI_LOCKS_LOCK_KEY_PATTERN_HPP
#define REDLOCK_CLI_LOCKS_LOCK_KEY_PATTERN_HPP

#include "protocol/key_format.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace redlock::cli {

class lock_key_pattern {
public:
    // The pattern for keys: the key format with `names` in the place of the name. Special characters of the format are escaped. `names`: a pattern as the
    // servers know them (*, ?, [a-z], and \ before one of these).
    // `all_shards`: of all shards of a Redis Cluster, whose keys and names begin with "{s17}:".
    lock_key_pattern(detail::key_format keys, std::string_view names, bool all_shards = false);

    // What SCAN's MATCH gets.
    std::string const& text() const noexcept { return text_; }

    // The name of the lock with this key. None if the key does not have the format, or is one of the library's own (is_own_key). SCAN has compared it with
    // `names`; only where a shard stands before it, that is done once more.
    std::optional<std::string> name_of(std::string const& key) const;

private:
    detail::key_format keys_;
    bool all_shards_;
    std::string names_;
    std::string text_;
};

// Whether a name matches a pattern as the servers understand it.
bool matches(std::string_view pattern, std::string_view name);

}  // namespace redlock::cli

#endif
