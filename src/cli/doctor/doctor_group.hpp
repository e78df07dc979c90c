// What `redlock doctor` says about a node that is a group: its Sentinels and its replicas. No I/O.
#ifndef REDLOCK_CLI_DOCTOR_DOCTOR_GROUP_HPP
#define REDLOCK_CLI_DOCTOR_DOCTOR_GROUP_HPP

#include "cli/doctor/doctor_rules.hpp"
#include "cli/doctor/facts.hpp"
#include "node/sentinel/primary_finder.hpp"

#include <redlock/config.hpp>
#include <redlock/options.hpp>

#include <string_view>
#include <vector>

namespace redlock::cli {

// `info`: the primary's answer to INFO; empty: there is none.
group_probe examine_group(node_address const& address, detail::primary_finder::result const& found, std::string_view info);

std::vector<finding> diagnose_group(doctor_probe const& node, config const& settings, lock_options const& lock);

}  // namespace redlock::cli

#endif
