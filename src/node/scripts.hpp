// The Lua scripts, and their names on the servers (SHA-1 of the text, as SCRIPT LOAD answers it).
#ifndef REDLOCK_NODE_SCRIPTS_HPP
#define REDLOCK_NODE_SCRIPTS_HPP

#include <string>
#include <string_view>

namespace redlock::detail {

struct script {
    std::string_view text;
    std::string sha1;
};

// `text` must outlive it. Throws std::runtime_error when there is no SHA-1.
script make_script(std::string_view text);

// KEYS: any number of locks; ARGV: value and ttl in ms for each. Answers one number for each: 1 extended, 0 not ours.
script const& extend_script();

// KEYS: a lock; ARGV: its value. Answers 1 deleted, 0 was not there or is not ours.
script const& release_script();

}  // namespace redlock::detail

#endif
