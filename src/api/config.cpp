#include <redlock/config.hpp>

#include "api/bounds.hpp"
#include "redis/key_format.hpp"
#include "redis/node_address.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <string>

namespace redlock {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

std::string place_of(std::size_t node) { return "nodes[" + std::to_string(node) + ']'; }

void require_between(char const* member, milliseconds value, milliseconds min, milliseconds max)
{
    bounds::require_between<config_error>(std::string{"config::"} + member, value, min, max);
}

void validate_node(std::size_t index, node_address const& node)
{
    if (node.unix_socket.empty() && !node.sentinel)
        if (auto const problem = host_problem(node.host); !problem.empty()) throw config_error{place_of(index) + ": the host " + problem};
    std::string const place = place_of(index) + (node.unix_socket.empty() && !node.sentinel ? " (" + node.to_string() + ')' : "");
    if (auto const problem = connection_problem(node); !problem.empty()) throw config_error{place + ": " + problem};
    if (auto const problem = problem_with_this_build(node); !problem.empty()) throw config_error{place + ": " + problem};
    if (node.port == 0 && !node.sentinel) throw config_error{place + ": the port must be between 1 and 65535"};
    if (node.replicas > max_replicas)
        throw config_error{place + ": it waits for " + std::to_string(node.replicas) + " replicas; there may be at most " +
                           std::to_string(max_replicas)};
}

void require_distinct(std::vector<node_address> const& nodes)
{
    for (std::size_t later = 1; later < nodes.size(); ++later)
        for (std::size_t earlier = 0; earlier < later; ++earlier)
            if (auto const conflict = conflict_of(nodes[earlier], place_of(earlier), nodes[later]); !conflict.empty())
                throw config_error{place_of(later) + " (" + nodes[later].to_string() + "): " + conflict};
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
    constexpr std::size_t label_size_max = 64;
    if (label.size() > label_size_max) throw config_error{"config::label is longer than " + std::to_string(label_size_max) + " characters"};
    if (!std::all_of(label.begin(), label.end(), [](char c) { return c >= '!' && c <= '~'; }))
        throw config_error{"config::label contains a character that it may not: it must be visible ASCII without spaces"};
}

}  // namespace

void log_to_stderr(std::string_view sentence)
{
    std::string const line = "redlock: " + std::string{sentence} + '\n';
    std::fwrite(line.data(), 1, line.size(), stderr);
}

config config::from_urls(std::vector<std::string> const& urls)
{
    config result;
    for (std::string const& url : urls) {
        try {
            result.nodes.push_back(node_address::from_url(url));
        } catch (config_error const& error) {
            throw config_error{place_of(result.nodes.size()) + ": " + error.what()};
        }
    }
    result.validate();
    return result;
}

void config::validate() const
{
    if (nodes.empty()) throw config_error{"config::nodes is empty: there must be at least one node"};
    if (nodes.size() > max_nodes)
        throw config_error{"config::nodes has " + std::to_string(nodes.size()) + " nodes; there may be at most " +
                           std::to_string(max_nodes)};
    for (std::size_t index = 0; index < nodes.size(); ++index) validate_node(index, nodes[index]);
    if (auto const problem = tls_problem(tls); !problem.empty()) throw config_error{"config::tls: " + problem};
    require_distinct(nodes);
    validate_client_name(client_name);
    validate_label(label);
    if (auto const problem = detail::key_format_problem(key_format); !problem.empty()) throw config_error{"config::key_format " + problem};
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
