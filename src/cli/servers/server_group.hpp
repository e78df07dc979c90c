// Connections of the command's subcommands to all nodes of a configuration. Asks the nodes at the same time, and blocks until each has
// answered or failed.
#ifndef REDLOCK_CLI_SERVERS_SERVER_GROUP_HPP
#define REDLOCK_CLI_SERVERS_SERVER_GROUP_HPP

#include "cli/servers/cluster_routes.hpp"
#include "cli/servers/node_link.hpp"
#include "protocol/key_format.hpp"
#include "quorum/votes.hpp"

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

class server_group {
public:
    // `timeout`: for connecting, and once more for the answers to each request.
    server_group(config const& settings, std::chrono::milliseconds timeout);
    ~server_group();

    std::size_t size() const noexcept { return names_.size(); }
    std::size_t majority() const noexcept { return quorum::majority(names_.size()); }
    std::string const& name(std::size_t node) const { return names_[node]; }
    std::vector<std::string> const& names() const noexcept { return names_; }

    // What the Sentinels of a node said that is a group.
    detail::primary_finder::result const& group(std::size_t node) const { return links_[node].group(); }

    // The key of a lock. Of all shards of Redis Clusters, the name has that of its shard before it, as in "{s17}:NAME".
    std::string key_of(std::string lock) const;
    detail::key_format const& keys() const noexcept { return keys_; }

    // Whether the nodes are Redis Clusters with all of their shards (config::place says of none of them).
    bool has_all_shards() const noexcept { return !clusters_.empty(); }

    // The servers that have to be searched for all keys: the nodes, or the primaries of all clusters. look_for_servers() blocks until it is known which.
    void look_for_servers();
    std::size_t servers() const noexcept { return has_all_shards() ? servers_.size() : size(); }
    std::size_t node_of(std::size_t server) const { return has_all_shards() ? servers_[server].first : server; }
    // Why some servers of a node are not known; empty: all are.
    std::string problem_of(std::size_t node) const { return has_all_shards() ? clusters_[node].problem() : ""; }
    // As ask_each, one element for each server.
    std::vector<answers> ask_servers(std::function<std::vector<words>(std::size_t server)> const& commands);

    // Sends the same commands to all nodes. Returns one element for each node.
    std::vector<answers> ask(std::vector<words> const& commands);

    // Calls `commands` for the commands of each node. A node without commands is not asked, nor is any once interrupted(); its element has a problem
    // that says so.
    std::vector<answers> ask_each(std::function<std::vector<words>(std::size_t node)> const& commands);

    // From now on a node that was silent once is not asked again: each further question would take as long.
    void leave_out_silent() noexcept { leaves_out_silent_ = true; }

    // Waits, and keeps the connections alive meanwhile. False: SIGINT or SIGTERM came, see stop_on_signals().
    bool pause(std::chrono::milliseconds time);

    // From now on SIGINT and SIGTERM do not end the process, but end pause() and ask() early, and interrupted() becomes true.
    void stop_on_signals();
    bool interrupted() const noexcept { return interrupted_; }
    // The signal that has come, also while nothing was asked; 0: none.
    int look_for_signal();

    // The same as such a signal. From any thread.
    void interrupt();

private:
    using asks = std::function<void(std::size_t which, std::vector<words> const& commands, node_link::handler done)>;
    std::vector<answers> ask_some(std::size_t count, std::function<std::vector<words>(std::size_t)> const& commands, asks const& ask);
    void close();

    asio::io_context io_{1};
    std::chrono::milliseconds timeout_;
    detail::key_format keys_;
    std::vector<std::string> names_;
    std::vector<node_link> links_;
    std::vector<cluster_routes> clusters_;  // instead of links, where all shards are meant
    std::vector<std::pair<std::size_t, std::size_t>> servers_;  // of clusters: which one, and which of its primaries
    std::shared_ptr<void> signals_;  // a signal_set; none before stop_on_signals()
    bool interrupted_{false};
    int signal_{0};
    bool leaves_out_silent_{false};
    std::vector<answers> silent_;  // by node, what it was said to be; a problem: it was silent
};

}  // namespace redlock::cli

#endif
