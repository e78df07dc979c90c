// What the user of a connection may do: commands that no lock can do without. Asked for at the handshake, since a script of ours that
// may not look at a key would take the lock for lost.
#ifndef REDLOCK_NODE_RIGHTS_HPP
#define REDLOCK_NODE_RIGHTS_HPP

#include "node/scripts.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

// Answers with the rules that are missing, as in " +get +del"; changes nothing.
script const& rights_script();

// Why the user cannot lock with these; none: nothing is missing, or it cannot be told.
std::optional<std::string> objection_to_rights(std::string_view answer, bool is_error);

}  // namespace redlock::detail

#endif
