// Asks the nodes for the facts that doctor_rules judges. Writes only one key of its own to the nodes, and deletes that.
#ifndef REDLOCK_CLI_DOCTOR_DOCTOR_PROBES_HPP
#define REDLOCK_CLI_DOCTOR_DOCTOR_PROBES_HPP

#include "cli/doctor/doctor_rules.hpp"
#include "cli/servers/server_group.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace redlock::cli {

// Tests the permissions for the lock `name`, without touching its key; with an empty name, for a key of the doctor's own. `timeout`: as of `nodes`.
std::vector<doctor_probe> examine(server_group& nodes, config const& settings, std::chrono::milliseconds timeout, std::string const& name);

}  // namespace redlock::cli

#endif
