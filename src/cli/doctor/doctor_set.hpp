// The rules of doctor_rules about the set of nodes: whether the list is that of the set, and which of its members are admitted. No I/O.
#ifndef REDLOCK_CLI_DOCTOR_DOCTOR_SET_HPP
#define REDLOCK_CLI_DOCTOR_DOCTOR_SET_HPP

#include "cli/doctor/doctor_rules.hpp"
#include "cli/servers/set_views.hpp"

#include <vector>

namespace redlock::cli {

// What they say of their set.
std::vector<set_view> sets_of(std::vector<doctor_probe> const& nodes);
set_words words_of_set(std::vector<doctor_probe> const& nodes, config const& settings);

// By node: whether it is no member of the set any more, so that nobody misses it.
std::vector<bool> who_left(std::vector<doctor_probe> const& nodes, config const& settings);

std::vector<finding> diagnose_set(std::vector<doctor_probe> const& nodes, config const& settings, lock_options const& lock);

}  // namespace redlock::cli

#endif
