// Which keys on a node are those of locks whose names match a pattern. No I/O.
#ifndef REDLOCK_CLI_NAME_PATTERN_HPP
#define REDLOCK_CLI_NAME_PATTERN_HPP

#include <optional>
#include <string>
#include <string_view>

namespace redlock::cli {

class name_pattern {
public:
    // `key_format`: as in config::key_format, and valid. `names`: a pattern as the servers know them (*, ?, [a-z], and \ before one of these).
    name_pattern(std::string_view key_format, std::string_view names);

    // The pattern for keys: what the key format has around the name stands for itself in it.
    std::string const& keys() const noexcept { return keys_; }

    // The name of the lock with this key; none: the key format does not make such keys, or the key is one that this library keeps for itself.
    std::optional<std::string> name_of(std::string_view key) const;

private:
    std::string before_;
    std::string after_;
    std::string keys_;
};

}  // namespace redlock::cli

#endif
