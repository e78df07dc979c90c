// Asks the nodes what a diagnosis needs. Changes nothing on them but a key of its own, which it deletes.
#ifndef REDLOCK_CLI_CHECKUP_HPP
#define REDLOCK_CLI_CHECKUP_HPP

#include "cli/diagnosis.hpp"
#include "cli/fleet.hpp"

#include <string>
#include <vector>

namespace redlock::cli {

// `name`: the lock on which permissions are tried, without touching it; empty: on a name of the doctor's own.
std::vector<checkup> examine(fleet& nodes, config const& settings, std::string const& name);

}  // namespace redlock::cli

#endif
