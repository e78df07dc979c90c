// What the user of a connection may do: commands that no lock can do without. Asked for at the handshake, since a script of ours that
// may not look at a key would take the lock for lost.
#ifndef REDLOCK_REDIS_RIGHTS_HPP
#define REDLOCK_REDIS_RIGHTS_HPP

#include "redis/scripts.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

// Answers with the rules that are missing, as in " +get +del", and with commands that the server does not have, as in " -get"; changes
// nothing.
script const& rights_script();

// A server says that it has no such command.
bool is_unknown_command(std::string_view error) noexcept;

// What to say of a server that does not have these commands, which no lock can do without.
std::string objection_to_missing(std::string_view commands);

// Why the user cannot lock with these; none: nothing is missing, or it cannot be told.
std::optional<std::string> objection_to_rights(std::string_view answer, bool is_error);

}  // namespace redlock::detail

#endif
