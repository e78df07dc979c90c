// Which nodes a command talks to.
#ifndef REDLOCK_CLI_SERVERS_SETTINGS_HPP
#define REDLOCK_CLI_SERVERS_SETTINGS_HPP

#include "cli/options/commands.hpp"
#include "protocol/key_format.hpp"

#include <redlock/json.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

// From --nodes, --config or REDLOCK_NODES, in this order. Of a configuration with shards, only the nodes of one are left: of that which --shard says, or
// the locks `names`; of the shards of a Redis Cluster, config::place says which one. Throws `failure`: with `usage` when there are no
// nodes, or it is open which shard is meant, with `config` when what is given cannot be used.
settings settings_of(node_options const& options, std::vector<std::string> const& names = {});

// The same for each of the locks, with their places in `names`: those of one shard are together. In the order of the first lock of each shard.
struct settings_of_some {
    settings of;
    std::vector<std::size_t> places;
};
std::vector<settings_of_some> settings_by_shard(node_options const& options, std::vector<std::string> const& names);

// The same for a command that looks at servers one by one: a Redis Cluster is refused.
settings settings_of_servers(node_options const& options);

// The same for a command that searches all servers: of a Redis Cluster all shards, unless --shard says one.
settings settings_of_searched(node_options const& options);

// With all shards, if the nodes are Redis Clusters; none: they are not.
std::optional<settings> settings_of_clusters(node_options const& options);

// The same for a lock whose keys on the nodes are known.
settings settings_of_keys(node_options const& options, std::vector<std::string> const& keys);

// The variables of the environment that hold passwords: of all nodes and Sentinels, also of other shards than the lock's.
std::vector<std::string> password_variables(node_options const& options);

// Makes the keys of locks on the nodes. `nodes`: as settings_of() leaves them.
detail::key_format keys_of(config const& nodes);

// The text to print when there is no folder.
inline constexpr char const* no_quarantine_folder =
    "neither REDLOCK_STATE_DIR nor XDG_STATE_HOME nor HOME names a folder, so that each process waits for nodes anew";

// Turns a message of the library, which names members of config and lock_options, into one that names the command's options.
std::string in_terms_of_options(std::string_view message, node_options const& from);

// Throws `failure` when the name is empty.
void check_name(std::string const& name);

}  // namespace redlock::cli

#endif
