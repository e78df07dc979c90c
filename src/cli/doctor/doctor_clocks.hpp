// The rules of doctor_rules about time: round trips, and clocks that are set, off, or apart. No I/O.
#ifndef REDLOCK_CLI_DOCTOR_DOCTOR_CLOCKS_HPP
#define REDLOCK_CLI_DOCTOR_DOCTOR_CLOCKS_HPP

#include "cli/doctor/doctor_rules.hpp"

#include <vector>

namespace redlock::cli {

// What is wrong with the times of one node that answered.
std::vector<finding> diagnose_time(doctor_probe const& node, lock_options const& lock);

// What is wrong between the clocks of all nodes.
std::vector<finding> diagnose_clocks(std::vector<doctor_probe> const& nodes);

}  // namespace redlock::cli

#endif
