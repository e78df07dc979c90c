// What a Redis Cluster says of its servers, slots and replicas.
#ifndef REDLOCK_CLI_SERVERS_CLUSTER_REPORT_HPP
#define REDLOCK_CLI_SERVERS_CLUSTER_REPORT_HPP

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

}  // namespace redlock::cli

#endif
