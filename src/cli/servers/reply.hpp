// A server's answer to a command, as a tree. node_link reads it, the subcommands use it.
#ifndef REDLOCK_CLI_SERVERS_REPLY_HPP
#define REDLOCK_CLI_SERVERS_REPLY_HPP

#include <cstdint>
#include <string>
#include <vector>

namespace redlock::cli {

using words = std::vector<std::string>;

struct reply {
    enum class kind : std::uint8_t { nil, text, integer, error, list };

    kind type{kind::nil};
    std::string text;          // of a text, a number or an error
    std::vector<reply> items;  // of a list; of a map keys and values in turn

    bool is_error() const noexcept { return type == kind::error; }
    bool is_text() const noexcept { return type == kind::text; }

    // The value of an integer, or of a text that is one; for anything else `otherwise`.
    std::int64_t number(std::int64_t otherwise) const;
};

}  // namespace redlock::cli

#endif
