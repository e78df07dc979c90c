// Which rights the user of a connection lacks. Those that every lock needs are checked at the handshake: so a node on which locks could be neither kept
// nor released gets none. Those of readers and semaphores show when a script is refused a command.
#ifndef REDLOCK_PROTOCOL_RIGHTS_HPP
#define REDLOCK_PROTOCOL_RIGHTS_HPP

#include "protocol/scripts.hpp"

#include <optional>
#include <span>
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

// The right without which one of these scripts has ended with this error, as in "+zscore"; empty if it ended for another reason. Redis up to 7.0 does not
// name the command, but says on which line of the script it stands.
std::string missing_right(std::string_view error, std::span<script const* const> scripts);

}  // namespace redlock::detail

#endif
