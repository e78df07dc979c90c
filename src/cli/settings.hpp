// Which nodes a command talks to.
#ifndef REDLOCK_CLI_SETTINGS_HPP
#define REDLOCK_CLI_SETTINGS_HPP

#include "cli/commands.hpp"

#include <redlock/json.hpp>

#include <string>
#include <string_view>

namespace redlock::cli {

// From --nodes, --config or REDLOCK_NODES, in this order. Throws failure: with `usage` when there are none, with `config` when what is
// there cannot be used.
settings settings_of(node_options const& options);

// Where the processes of this user leave word for each other: from REDLOCK_STATE_DIR, XDG_STATE_HOME or HOME, in this order. Empty: none says.
// Throws failure with `config` when the first is no absolute path.
std::string default_quarantine_folder();

// What to say where it is empty.
inline constexpr char const* no_quarantine_folder =
    "neither REDLOCK_STATE_DIR nor XDG_STATE_HOME nor HOME names a folder, so that each process waits for nodes anew";
// The library says where it finds a mistake in its own terms; here it is the user's.
std::string in_terms_of_options(std::string_view said, node_options const& from);

// Throws failure when it is empty.
void check_name(std::string const& name);

}  // namespace redlock::cli

#endif
