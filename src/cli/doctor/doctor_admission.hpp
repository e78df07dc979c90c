// The rules of doctor_rules about admission: which nodes have no vote on locks with fencing yet, and which client waits for them. No I/O.
#ifndef REDLOCK_CLI_DOCTOR_DOCTOR_ADMISSION_HPP
#define REDLOCK_CLI_DOCTOR_DOCTOR_ADMISSION_HPP

#include "cli/doctor/doctor_rules.hpp"

#include <vector>

namespace redlock::cli {

// To a node that is not admitted.
char const* what_happened(doctor_probe const& n);

// All nodes answer, and too few of them have their data to admit the others.
bool only_an_operator_can_help(std::vector<doctor_probe> const& nodes);

std::vector<finding> diagnose_admission(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock);

}  // namespace redlock::cli

#endif
