// The primaries of one Redis Cluster, for server_group: each command goes to the primary that has its key.
#ifndef REDLOCK_CLI_SERVERS_CLUSTER_ROUTES_HPP
#define REDLOCK_CLI_SERVERS_CLUSTER_ROUTES_HPP

#include "cli/servers/node_link.hpp"
#include "node/cluster/cluster_map.hpp"

#include <redlock/config.hpp>

#include <chrono>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {

// The shard of the first key among the words of a command; none: it has no key of a shard.
std::optional<std::size_t> shard_in(words const& command);

class cluster_routes {
public:
    // `settings`: those of the client, whose connect_timeout counts.
    cluster_routes(asio::any_io_executor executor, node_address cluster, config settings);

    // Asks who has which shards, and blocks until that is known or no server has said it.
    void find_primaries(std::chrono::milliseconds timeout);

    // Those that have shards, so that a search finds all locks there.
    std::size_t primaries() const noexcept { return primaries_.size(); }

    // Why not all of the cluster can be searched; empty: it can be.
    std::string const& problem() const noexcept { return problem_; }

    // As node_link::ask. A command without a key goes where the one before it went. What cannot be asked is answered with an error.
    void ask(std::vector<words> const& commands, std::chrono::milliseconds patience, node_link::handler done);
    void ask_primary(std::size_t which, std::vector<words> const& commands, std::chrono::milliseconds patience, node_link::handler done);

    void close();

private:
    // Of the primary that has the shard; none: nobody has it.
    std::optional<std::size_t> primary_of(std::size_t shard) const;
    node_link& link_to(std::string const& primary);

    asio::any_io_executor executor_;
    node_address cluster_;
    config settings_;
    detail::cluster_map map_;
    std::vector<std::string> primaries_;  // addresses
    std::map<std::string, node_link> links_;
    std::string problem_;
};

}  // namespace redlock::cli

#endif
