#include "cli/servers/settings.hpp"

#include "cli/output/exit_codes.hpp"
#include "cli/output/notes.hpp"
#include "cli/output/text.hpp"
#include "client/shard_choice.hpp"
#include "node/cluster/cluster_map.hpp"
#include "protocol/key_format.hpp"
#include "quorum/sets/set_record.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace redlock::cli {

namespace {

constexpr char const* nodes_variable = "REDLOCK_NODES";

settings from_list(std::string const& urls, std::string const& where)
{
    try {
        settings result;
        result.client = config::from_urls(split_urls(urls));
        return result;
    } catch (config_error const& error) {
        auto const listed = split_urls(urls);
        bool const are_several = std::any_of(listed.begin(), listed.end(), [](std::string const& one) {
            auto const space = one.find_first_of(" \t\n");
            return space != one.npos && one.find("://", space) != one.npos;
        });
        throw failure{exit_code::config, where + ": " + error.what() + (are_several ? "; between two URLs there must be a comma" : "")};
    }
}

bool has_password(settings const& loaded)
{
    auto const has_secret = [](std::vector<node_address> const& nodes) {
        return std::any_of(nodes.begin(), nodes.end(),
                           [](node_address const& n) { return !n.password.empty() || (n.sentinel && !n.sentinel->password.empty()); });
    };
    auto const& shards = loaded.client.shards;
    return has_secret(loaded.client.nodes) || std::any_of(shards.begin(), shards.end(), has_secret);
}

// Once, however often a command reads its settings.
void warn_of_command_line(node_options const& options, settings const& loaded)
{
    static bool is_said = false;
    if (options.quiet || !has_password(loaded) || std::exchange(is_said, true)) return;
    say_on_stderr(std::string{"warning: every user of this machine sees the password in --nodes (ps); put the list into "} +
                  nodes_variable + " or a --config file");
}

// Warns only if every user may read the file: a file that one group may read was probably given to that group on purpose.
void warn_of_readers(std::string const& file, settings const& loaded)
{
    struct stat s{};
    if (!has_password(loaded) || ::stat(file.c_str(), &s) != 0 || (s.st_mode & S_IROTH) == 0) return;
    std::string const name = printable(file);
    say_on_stderr("warning: " + name + " holds passwords, and every user of this machine may read it; chmod o-rwx " + name);
}

// The library would name the member of its configuration.
void check_state_folder()
{
    char const* const chosen = std::getenv("REDLOCK_STATE_DIR");
    if (chosen != nullptr && *chosen != '\0' && *chosen != '/')
        throw failure{exit_code::config, "REDLOCK_STATE_DIR must be an absolute path"};
}

settings given(node_options const& options)
{
    check_state_folder();
    if (!options.urls.empty() && !options.config_file.empty())
        throw failure{exit_code::usage, "--nodes and --config both say which nodes there are; give one of them"};
    if (!options.urls.empty()) {
        auto listed = from_list(options.urls, "--nodes");
        warn_of_command_line(options, listed);
        return listed;
    }
    if (!options.config_file.empty()) {
        try {
            return load_settings(options.config_file);
        } catch (config_error const& error) {
            throw failure{exit_code::config, error.what()};
        }
    }
    char const* const listed = std::getenv(nodes_variable);
    if (listed != nullptr && *listed != '\0') return from_list(listed, nodes_variable);
    throw failure{exit_code::usage, std::string{"there are no nodes: give --nodes redis://host1,redis://host2,redis://host3, set "} +
                                        nodes_variable + " to such a list, or give --config FILE.json"};
}

settings chosen(node_options const& options)
{
    auto loaded = given(options);
    if (!options.config_file.empty()) warn_of_readers(options.config_file, loaded);
    return loaded;
}

settings with_defaults(settings result, node_options const& options)
{
    if (!options.set_name.empty()) {
        if (!result.client.set_name.empty() && result.client.set_name != options.set_name)
            throw failure{exit_code::usage, "--set-name and the configuration name different sets: \"" + printable(options.set_name) +
                                                "\" and \"" + printable(result.client.set_name) + '"'};
        result.client.set_name = options.set_name;
        if (auto const problem = quorum::set_name_problem(options.set_name); !problem.empty())
            throw failure{exit_code::usage, "--set-name " + problem};
    }
    result.client.log = {};  // the command prints messages of its own
    return result;
}

std::string known_shards(std::size_t count)
{
    return "the configuration has " + count_of(count, "shard") + ", 0 to " + std::to_string(count - 1);
}

bool has_cluster(config const& of)
{
    return std::any_of(of.nodes.begin(), of.nodes.end(), [](node_address const& n) { return n.cluster.has_value(); });
}

// Leaves the nodes of one shard, or says which shard of a Redis Cluster it is. `keys`: of the locks that the command is about.
void choose_shard(config& of, node_options const& options, std::vector<std::string> const& keys)
{
    bool const in_cluster = has_cluster(of);
    auto const count = in_cluster ? of.nodes.front().cluster->shards : of.shards.size();
    if (count == 0) {
        if (options.shard) throw failure{exit_code::usage, "--shard was given, but the configuration has one set of nodes and no shards"};
        return;
    }
    if (options.shard && *options.shard >= count)
        throw failure{exit_code::usage, "there is no shard " + std::to_string(*options.shard) + ": " + known_shards(count)};
    auto shard = options.shard;
    for (std::string const& key : keys) {
        auto const own = detail::shard_of(key, count);
        if (shard && *shard != own)
            throw failure{exit_code::usage, "the lock with the key \"" + printable(key) + "\" is in shard " + std::to_string(own) +
                                                " and not in shard " + std::to_string(*shard) + "; a command talks to one shard"};
        shard = own;
    }
    if (!shard) throw failure{exit_code::usage, known_shards(count) + ": say which one with --shard"};
    of.place = shard_place{*shard, count};
    if (in_cluster) return;
    of.nodes = std::move(of.shards[*shard]);
    of.shards.clear();
}

}  // namespace

settings settings_of(node_options const& options, std::vector<std::string> const& names)
{
    settings result = chosen(options);
    detail::key_format const format{result.client.key_format};
    std::vector<std::string> keys;
    for (std::string const& name : names) keys.push_back(format.key_of(name));
    choose_shard(result.client, options, keys);
    return with_defaults(std::move(result), options);
}

std::vector<settings_of_some> settings_by_shard(node_options const& options, std::vector<std::string> const& names)
{
    std::vector<settings_of_some> all;
    for (std::size_t i = 0; i < names.size(); ++i) {
        auto of = settings_of(options, {names[i]});
        auto const shard_in = [](settings const& s) { return s.client.place ? s.client.place->shard : 0; };
        auto const same = [&](settings_of_some const& other) { return shard_in(other.of) == shard_in(of); };
        auto const known = std::find_if(all.begin(), all.end(), same);
        if (known == all.end()) all.push_back({std::move(of), {i}});
        else known->places.push_back(i);
    }
    return all;
}

settings settings_of_servers(node_options const& options)
{
    if (has_cluster(chosen(options).client))
        throw failure{
            exit_code::config,
            "redlock nodes does not work with a Redis Cluster, which has no set of nodes; redlock doctor shows the cluster, redlock list "
            "and dashboard its locks"};
    return settings_of(options);
}

settings settings_of_searched(node_options const& options)
{
    if (options.shard) return settings_of(options);
    if (auto of_clusters = settings_of_clusters(options)) return std::move(*of_clusters);
    return settings_of(options);
}

std::optional<settings> settings_of_clusters(node_options const& options)
{
    settings result = chosen(options);
    if (!has_cluster(result.client)) return std::nullopt;
    return with_defaults(std::move(result), options);
}

detail::key_format keys_of(config const& nodes)
{
    bool const in_cluster = nodes.nodes.front().cluster.has_value();
    return detail::key_format{nodes.key_format, in_cluster ? detail::prefix_of_shard(nodes.place->shard) : ""};
}

settings settings_of_keys(node_options const& options, std::vector<std::string> const& keys)
{
    settings result = chosen(options);
    choose_shard(result.client, options, keys);
    return with_defaults(std::move(result), options);
}

std::vector<std::string> password_variables(node_options const& options)
{
    std::vector<std::string> all;
    auto const add = [&](std::vector<node_address> const& nodes) {
        for (node_address const& n : nodes) {
            if (!n.password_env.empty()) all.push_back(n.password_env);
            if (n.sentinel && !n.sentinel->password_env.empty()) all.push_back(n.sentinel->password_env);
        }
    };
    auto const client = given(options).client;
    add(client.nodes);
    for (auto const& shard : client.shards) add(shard);
    return all;
}

void check_name(std::string const& name)
{
    if (name.empty()) throw failure{exit_code::usage, "the name of a lock is empty"};
}

std::string in_terms_of_options(std::string_view message, node_options const& from)
{
    bool const with_file = !from.config_file.empty();
    for (std::string_view const prefix : {"redlock::lock: ", "redlock::semaphore: ", "lock_options::", "config::"})
        if (message.starts_with(prefix)) message.remove_prefix(prefix.size());
    std::string text{message};
    constexpr std::string_view member = "config::max_ttl";
    auto const at = text.find(member);
    if (at == std::string::npos) return text;
    text.replace(at, member.size(), with_file ? "max_ttl_ms of the --config file" : "max_ttl_ms");
    return with_file ? text : text + " unless a --config file says otherwise";
}

}  // namespace redlock::cli
