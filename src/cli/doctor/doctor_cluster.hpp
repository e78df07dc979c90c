// What `redlock doctor` says about Redis Clusters: the slots, which primary has which shards, replicas and K.
#ifndef REDLOCK_CLI_DOCTOR_DOCTOR_CLUSTER_HPP
#define REDLOCK_CLI_DOCTOR_DOCTOR_CLUSTER_HPP

#include "cli/doctor/doctor_rules.hpp"
#include "cli/servers/cluster_report.hpp"

#include <redlock/config.hpp>

#include <string>
#include <vector>

namespace redlock::cli {

// A line for each primary: its shards, its replicas. No I/O.
std::string shard_lines(node_address const& cluster, detail::cluster_map const& map);

// No I/O.
std::vector<finding> diagnose_cluster(node_address const& cluster, cluster_report const& report);

}  // namespace redlock::cli

#endif
