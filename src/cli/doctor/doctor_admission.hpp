// The rules of doctor_rules about admission: which nodes have no vote on locks with fencing yet, and which client waits for them. No I/O.
#ifndef REDLOCK_CLI_DOCTOR_DOCTOR_ADMISSION_HPP
#define REDLOCK_CLI_DOCTOR_DOCTOR_ADMISSION_HPP

#include "cli/doctor/doctor_rules.hpp"

#include <string>
#include <vector>

namespace redlock::cli {

// To a node that is not admitted.
char const* what_happened(doctor_probe const& n);

// " since 2026-11-22 01:05:42", when the first client began to wait for it; empty: none has.
std::string since_its_mark(doctor_probe const& n);

// All nodes answer, too few of them have their data to admit the others, and clients with this configuration do not let these vote again by themselves.
bool only_an_operator_can_help(std::vector<doctor_probe> const& nodes, config const& settings);

// Nobody has used them, and they have run for so long without a loss that they vote as soon as a client asks.
bool vote_when_asked(std::vector<doctor_probe> const& nodes, config const& settings);

std::vector<finding> diagnose_admission(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock);

}  // namespace redlock::cli

#endif
