// Which nodes a command talks to.
#ifndef REDLOCK_CLI_SETTINGS_HPP
#define REDLOCK_CLI_SETTINGS_HPP

#include "cli/commands.hpp"

#include <redlock/json.hpp>

namespace redlock::cli {

// From --nodes, --config or REDLOCK_NODES, in this order. Throws failure: with `usage` when there are none, with `config` when what is
// there cannot be used.
settings settings_of(node_options const& options);

// Throws failure when it is empty.
void check_name(std::string const& name);

}  // namespace redlock::cli

#endif
