// What `redlock doctor` says about Redis Clusters: the slots, which primary has which shards, replicas and K.
#ifndef REDLOCK_CLI_DOCTOR_CLUSTER_HPP
#define REDLOCK_CLI_DOCTOR_CLUSTER_HPP

#include "cli/doctor_rules.hpp"
#include "node/cluster/cluster_question.hpp"

#include <redlock/config.hpp>

#include <chrono>
#include <string>
#include <vector>

namespace redlock::cli {

struct cluster_report {
    std::string cluster;
    detail::cluster_answer said;  // by the first of its servers that answered
};

// Asks one cluster after the other; each of its servers has `timeout` for the answer.
std::vector<cluster_report> examine_clusters(config const& settings, std::chrono::milliseconds timeout);

// A line for each primary: its shards, its replicas. No I/O.
std::string shard_lines(node_address const& cluster, detail::cluster_map const& map);

// No I/O.
std::vector<finding> diagnose_cluster(node_address const& cluster, cluster_report const& report);

}  // namespace redlock::cli

#endif
