// Finds out at the handshake whether the user of a connection may use the commands that every lock needs. Without this check, a script that may not
// read a key would report the lock as lost.
#ifndef REDLOCK_REDIS_RIGHTS_HPP
#define REDLOCK_REDIS_RIGHTS_HPP

#include "redis/scripts.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

// Tests the commands on a key that does not exist, and changes nothing. Answers with the ACL rules that the user lacks, as in " +get +del", and with
// the commands that the server does not have, as in " -get".
script const& rights_script();

// Whether an error says that the server does not have the command.
bool is_unknown_command(std::string_view error) noexcept;

// The text of the error if a server does not have `commands`: a list with commas, for the text.
std::string objection_to_missing(std::string_view commands);

// The text of the error if the answer to rights_script shows that something is missing. None: nothing is missing, or the answer does not tell.
// `is_error`: the answer is an error of EVALSHA itself.
std::optional<std::string> objection_to_rights(std::string_view answer, bool is_error);

}  // namespace redlock::detail

#endif
