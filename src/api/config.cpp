#include <redlock/config.hpp>

#include "api/bounds.hpp"
#include "node/connection/node_address.hpp"
#include "protocol/key_format.hpp"
#include "quorum/sets/set_record.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace redlock {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

// A node, and where it stands in the configuration.
struct placed_node {
    node_address const* node;
    std::string place;
};

std::vector<placed_node> all_nodes(config const& of)
{
    std::vector<placed_node> all;
    for (std::size_t n = 0; n < of.nodes.size(); ++n) all.push_back({&of.nodes[n], "nodes[" + std::to_string(n) + ']'});
    for (std::size_t s = 0; s < of.shards.size(); ++s)
        for (std::size_t n = 0; n < of.shards[s].size(); ++n)
            all.push_back({&of.shards[s][n], "shards[" + std::to_string(s) + "][" + std::to_string(n) + ']'});
    return all;
}

void require_between(char const* member, milliseconds value, milliseconds min, milliseconds max)
{
    bounds::require_between<config_error>(std::string{"config::"} + member, value, min, max);
}

void validate_node(placed_node const& which)
{
    node_address const& node = *which.node;
    if (node.unix_socket.empty() && !node.sentinel && !node.cluster)
        if (auto const problem = host_problem(node.host); !problem.empty()) throw config_error{which.place + ": the host " + problem};
    std::string const place = which.place +
                              (node.unix_socket.empty() && !node.sentinel && !node.cluster ? " (" + node.to_string() + ')' : "");
    if (auto const problem = connection_problem(node); !problem.empty()) throw config_error{place + ": " + problem};
    if (auto const problem = problem_with_this_build(node); !problem.empty()) throw config_error{place + ": " + problem};
    if (node.port == 0 && !node.sentinel && !node.cluster) throw config_error{place + ": the port must be between 1 and 65535"};
    if (node.replicas > max_replicas)
        throw config_error{place + ": it waits for " + std::to_string(node.replicas) + " replicas; there may be at most " +
                           std::to_string(max_replicas)};
}

// Also across shards: the locks of two shards would share the record of one server.
void require_distinct(std::vector<placed_node> const& nodes)
{
    for (std::size_t later = 1; later < nodes.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier)
            if (auto const conflict = conflict_of(*nodes[earlier].node, nodes[earlier].place, *nodes[later].node); !conflict.empty())
                throw config_error{nodes[later].place + " (" + nodes[later].node->to_string() + "): " + conflict};
}

void require_count(std::string const& place, std::size_t nodes)
{
    if (nodes == 0) throw config_error{place + " is empty: there must be at least one node"};
    if (nodes > max_nodes)
        throw config_error{place + " has " + std::to_string(nodes) + " nodes; there may be at most " + std::to_string(max_nodes)};
}

// A cluster is several shards already.
void validate_clusters(config const& of)
{
    if (!of.set_name.empty() && !of.nodes.empty() && of.nodes.front().cluster)
        throw config_error{"config::set_name is for sets of servers; a Redis Cluster keeps the number of its shards and no name"};
    for (auto const& set : of.shards)
        for (node_address const& node : set)
            if (node.cluster)
                throw config_error{"config::shards has a Redis Cluster (" + node.to_string() +
                                   "); clusters are given in config::nodes, and cluster_options::shards is the number of their shards"};
    for (node_address const& node : of.nodes)
        if (node.cluster && of.nodes.front().cluster && node.cluster->shards != of.nodes.front().cluster->shards)
            throw config_error{"config::nodes has clusters with different numbers of shards (" +
                               std::to_string(of.nodes.front().cluster->shards) + " and " + std::to_string(node.cluster->shards) +
                               "); all clusters need the same number"};
}

void validate_counts(config const& of)
{
    if (of.shards.empty()) return require_count("config::nodes", of.nodes.size());
    if (!of.nodes.empty()) throw config_error{"config::nodes and config::shards both name nodes; one of them has to be empty"};
    if (of.shards.size() > max_shards)
        throw config_error{"config::shards has " + std::to_string(of.shards.size()) + " sets of nodes; there may be at most " +
                           std::to_string(max_shards)};
    for (std::size_t s = 0; s < of.shards.size(); ++s) require_count("config::shards[" + std::to_string(s) + ']', of.shards[s].size());
}

void validate_client_name(std::string const& name)
{
    if (name.empty()) throw config_error{"config::client_name is empty"};
    if (!std::all_of(name.begin(), name.end(), [](char c) { return c >= '!' && c <= '~'; }))
        throw config_error{"config::client_name contains a character that the servers refuse in names: it must be visible "
                           "ASCII without spaces"};
}

void validate_label(std::string const& label)
{
    constexpr std::size_t max_label_size = 64;
    if (label.size() > max_label_size) throw config_error{"config::label is longer than " + std::to_string(max_label_size) + " characters"};
    if (!std::all_of(label.begin(), label.end(), [](char c) { return c >= '!' && c <= '~'; }))
        throw config_error{"config::label contains a character that it may not: it must be visible ASCII without spaces"};
}

void validate_place(config const& of)
{
    if (!of.place) return;
    auto const& [shard, shards] = *of.place;
    auto const& cluster = of.nodes.front().cluster;
    std::size_t const most = cluster ? std::size_t{max_cluster_shards} : max_shards;
    if (!of.shards.empty() || shard >= shards || shards > most)
        throw config_error{"config::place is for one set of nodes out of at most " + std::to_string(most) + " shards"};
    if (cluster && cluster->shards != shards)
        throw config_error{"config::place is one of " + std::to_string(shards) + " shards, and the Redis Cluster has " +
                           std::to_string(cluster->shards)};
}

}  // namespace

void log_to_stderr(std::string_view sentence)
{
    std::string const line = "redlock: " + std::string{sentence} + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
}

namespace {

std::string absolute_path_in(char const* variable)
{
    char const* const value = std::getenv(variable);
    return value != nullptr && *value == '/' ? value : "";
}

}  // namespace

std::string default_quarantine_folder()
{
    char const* const chosen = std::getenv("REDLOCK_STATE_DIR");
    if (chosen != nullptr && *chosen != '\0') return std::string{chosen} + "/quarantine";
    if (auto const state = absolute_path_in("XDG_STATE_HOME"); !state.empty()) return state + "/redlock/quarantine";
    auto const home = absolute_path_in("HOME");
    return home.empty() ? "" : home + "/.local/state/redlock/quarantine";
}

config config::from_urls(std::vector<std::string> const& urls)
{
    config result;
    for (std::string const& url : urls) {
        try {
            result.nodes.push_back(node_address::from_url(url));
        } catch (config_error const& error) {
            throw config_error{"nodes[" + std::to_string(result.nodes.size()) + "]: " + error.what()};
        }
    }
    result.validate();
    return result;
}

void config::validate() const
{
    validate_counts(*this);
    auto const all = all_nodes(*this);
    for (placed_node const& which : all) validate_node(which);
    if (auto const problem = tls_problem(tls); !problem.empty()) throw config_error{"config::tls: " + problem};
    validate_clusters(*this);
    require_distinct(all);
    validate_client_name(client_name);
    validate_label(label);
    if (auto const problem = detail::key_format_problem(key_format); !problem.empty()) throw config_error{"config::key_format " + problem};
    if (auto const problem = quorum::set_name_problem(set_name); !problem.empty()) throw config_error{"config::set_name " + problem};
    validate_place(*this);
    if (auto const problem = folder_problem(quarantine_folder); !problem.empty())
        throw config_error{"config::quarantine_folder " + problem};
    require_between("connect_timeout", connect_timeout, 10ms, 10min);
    require_between("credentials_timeout", credentials_timeout, 10ms, 10min);
    require_between("max_reconnect_delay", max_reconnect_delay, 1ms, bounds::one_day);
    if (min_reconnect_delay < 1ms || min_reconnect_delay > max_reconnect_delay)
        bounds::refuse<config_error>("config::min_reconnect_delay", bounds::to_text(min_reconnect_delay),
                                     "between 1 ms and max_reconnect_delay, which is " + bounds::to_text(max_reconnect_delay));
    require_between("stall_timeout", stall_timeout, 100ms, bounds::one_day);
    require_between("replication_timeout", replication_timeout, 1ms, 1min);
    require_between("max_ttl", max_ttl, 10ms, bounds::one_day * 30);
    if (token_retention < 4 * max_ttl || token_retention > bounds::one_year)
        bounds::refuse<config_error>("config::token_retention", bounds::to_text(token_retention),
                                     "between four times max_ttl, which is " + bounds::to_text(max_ttl) + ", and 365 days");
    if (max_node_queue < 1 || max_node_queue > 1'000'000)
        bounds::refuse<config_error>("config::max_node_queue", std::to_string(max_node_queue), "between 1 and 1000000");
}

}  // namespace redlock
