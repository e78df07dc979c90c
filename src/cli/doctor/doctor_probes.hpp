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

// Whether the server's answer is that this user may not, or that it knows no such command.
bool is_refusal(reply const& r);

// A command that writes, for a key that nobody has; and the error that it got for another reason than that, for which every other one gets it as well.
words trial_of_writing();
std::string why_no_writes(reply const& r);

// The command by which votes of this node wait for replicas or its disk, so that it waits for none; empty: they wait for nothing.
words trial_of_waiting(node_address const& address);
refusal refusal_of_waiting(node_address const& address, std::string const& said);

}  // namespace redlock::cli

#endif
