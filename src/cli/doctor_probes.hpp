// Asks the nodes what a diagnosis needs. Changes nothing on them but a key of its own, which it deletes.
#ifndef REDLOCK_CLI_DOCTOR_PROBES_HPP
#define REDLOCK_CLI_DOCTOR_PROBES_HPP

#include "cli/doctor_rules.hpp"
#include "cli/server_group.hpp"

#include <string>
#include <vector>

namespace redlock::cli {

// `name`: the lock on which permissions are tried, without touching it; empty: on a name of the doctor's own.
std::vector<doctor_probe> examine(server_group& nodes, config const& settings, std::string const& name);

}  // namespace redlock::cli

#endif
