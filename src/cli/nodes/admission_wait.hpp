// Waits until nodes are admitted for locks with fencing, and prints meanwhile what each waits for.
#ifndef REDLOCK_CLI_NODES_ADMISSION_WAIT_HPP
#define REDLOCK_CLI_NODES_ADMISSION_WAIT_HPP

#include "cli/options/commands.hpp"

#include <redlock/config.hpp>
#include <redlock/status.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {

// `is_awaited`: whether it waits for the node that has this name in the record of its set; empty: for every node. Throws `failure` with `not_admitted` when one
// is not admitted within `patience`, or no wait will change that. `say` gets lines with their ends. Returns those that it has waited for: nodes, or all
// shards of Redis Clusters.
std::vector<node_status> wait_for_admission(config const& settings, std::optional<milliseconds> patience,
                                            std::function<void(std::string const&)> const& say,
                                            std::function<bool(std::string const& member)> const& is_awaited = {});

}  // namespace redlock::cli

#endif
