#include <redlock/json.hpp>

#include "api/json_reader.hpp"
#include "api/json_text.hpp"
#include "node/connection/node_address.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace redlock {

namespace {

using nlohmann::json;

// Far above any configuration; a larger file is the wrong one.
constexpr std::size_t max_file_size = std::size_t{1} << 20;

tls_options tls_from_json(json const& value, std::string const& place)
{
    tls_options tls;
    object_reader reader{value, place, object_reader::content::secret};
    reader.read("ca_file", tls.ca_file);
    reader.read("ca_path", tls.ca_path);
    reader.read("certificate_file", tls.certificate_file);
    reader.read("key_file", tls.key_file);
    reader.read("server_name", tls.server_name);
    reader.read("verify", tls.verify);
    reader.refuse_unknown_keys();
    if (auto const problem = tls_problem(tls); !problem.empty()) throw config_error{place + ": " + problem};
    return tls;
}

std::optional<tls_options> tls_of_node(json const& value, std::string const& place)
{
    if (value.is_object()) return tls_from_json(value, place);
    if (!value.is_boolean()) throw config_error{place + ": expected true, false or an object, found " + describe(value, true)};
    return value.get<bool>() ? std::optional{tls_options{}} : std::nullopt;
}

sentinel_address sentinel_from_json(json const& value, std::string const& place)
{
    if (value.is_string()) {
        try {
            return sentinel_from_text(value.get_ref<std::string const&>());
        } catch (config_error const& error) {
            throw config_error{place + ": " + error.what()};
        }
    }
    sentinel_address address;
    object_reader reader{value, place, object_reader::content::secret};
    if (!value.contains("host")) throw config_error{place + ".host: this key is missing"};
    reader.read("host", address.host);
    reader.read_whole<std::uint16_t>("port", address.port, 1);
    reader.refuse_unknown_keys();
    return address;
}

sentinel_options sentinels_from_json(json const& value, std::string const& place)
{
    sentinel_options sentinel;
    object_reader reader{value, place, object_reader::content::secret};
    if (!value.contains("master"))
        throw config_error{
            place + ".master: this key is missing; its value is the word behind \"sentinel monitor\" in the Sentinels' configuration"};
    reader.read("master", sentinel.master);
    reader.read("username", sentinel.username);
    reader.read("password", sentinel.password);
    reader.read("password_file", sentinel.password_file);
    reader.read("password_env", sentinel.password_env);
    if (json const* tls = reader.find("tls")) sentinel.tls = tls_of_node(*tls, reader.place_of("tls"));
    json const* addresses = reader.find("addresses");
    reader.refuse_unknown_keys();
    std::string const list = reader.place_of("addresses");
    if (!addresses) throw config_error{list + ": this key is missing"};
    if (!addresses->is_array()) throw config_error{list + ": expected a list, found " + describe(*addresses, true)};
    for (json const& a : *addresses)
        sentinel.addresses.push_back(sentinel_from_json(a, list + '[' + std::to_string(sentinel.addresses.size()) + ']'));
    return sentinel;
}

cluster_options cluster_from_json(json const& value, std::string const& place)
{
    cluster_options cluster;
    object_reader reader{value, place, object_reader::content::secret};
    reader.read_whole<std::uint16_t>("shards", cluster.shards, 1, max_cluster_shards);
    json const* addresses = reader.find("addresses");
    reader.refuse_unknown_keys();
    std::string const list = reader.place_of("addresses");
    if (!addresses) throw config_error{list + ": this key is missing"};
    if (!addresses->is_array()) throw config_error{list + ": expected a list, found " + describe(*addresses, true)};
    for (json const& a : *addresses) {
        auto const at = list + '[' + std::to_string(cluster.addresses.size()) + ']';
        if (!a.is_string()) throw config_error{at + ": expected host:port, found " + describe(a, true)};
        try {
            cluster.addresses.push_back(cluster_address_from_text(a.get_ref<std::string const&>()));
        } catch (config_error const& error) {
            throw config_error{at + ": " + error.what()};
        }
    }
    return cluster;
}

node_address node_from_json(json const& value, std::string const& place)
{
    if (value.is_string()) {
        try {
            return node_address::from_url(value.get_ref<std::string const&>());
        } catch (config_error const& error) {
            throw config_error{place + ": " + error.what()};
        }
    }
    if (!value.is_object()) throw config_error{place + ": expected a redis:// URL or an object, found " + describe(value, true)};

    node_address address;
    object_reader reader{value, place, object_reader::content::secret};
    if (!value.contains("host") && !value.contains("unix_socket") && !value.contains("sentinel") && !value.contains("cluster"))
        throw config_error{place + ".host: this key is missing"};
    reader.read("host", address.host);
    reader.read_whole<std::uint16_t>("port", address.port, 1);
    reader.read("unix_socket", address.unix_socket);
    reader.read("username", address.username);
    reader.read("password", address.password);
    reader.read("password_file", address.password_file);
    reader.read("password_env", address.password_env);
    reader.read_whole<std::uint16_t>("database", address.database);
    reader.read_whole<std::uint16_t>("replicas", address.replicas, 0, max_replicas);
    reader.read("fsync", address.fsync);
    if (json const* tls = reader.find("tls")) address.tls = tls_of_node(*tls, reader.place_of("tls"));
    if (json const* sentinel = reader.find("sentinel")) address.sentinel = sentinels_from_json(*sentinel, reader.place_of("sentinel"));
    if (json const* cluster = reader.find("cluster")) address.cluster = cluster_from_json(*cluster, reader.place_of("cluster"));
    reader.refuse_unknown_keys();
    if ((address.sentinel || address.cluster) && value.contains("replicas") && address.replicas == 0)
        throw config_error{reader.place_of("replicas") + ": " + no_replicas_in_a_group()};
    return address;
}

std::vector<node_address> nodes_from_json(json const& value, std::string const& place)
{
    if (!value.is_array()) throw config_error{place + ": expected a list, found " + describe(value, true)};
    std::vector<node_address> nodes;
    for (json const& node : value) nodes.push_back(node_from_json(node, place + '[' + std::to_string(nodes.size()) + ']'));
    return nodes;
}

std::vector<std::vector<node_address>> shards_from_json(json const& value)
{
    if (!value.is_array()) throw config_error{"shards: expected a list of lists of nodes, found " + describe(value, true)};
    std::vector<std::vector<node_address>> shards;
    for (json const& nodes : value) shards.push_back(nodes_from_json(nodes, "shards[" + std::to_string(shards.size()) + ']'));
    if (shards.empty()) throw config_error{"shards: the list is empty; without shards, leave the key out and give nodes"};
    return shards;
}

identity_check identity_from_json(json const& value)
{
    if (value == "every_message") return identity_check::every_message;
    if (value == "handshake") return identity_check::handshake;
    throw config_error{"identity: expected \"every_message\" or \"handshake\", found " + describe(value, false)};
}

majority_loss majority_loss_from_json(json const& value)
{
    if (value == "recover") return majority_loss::recover;
    if (value == "wait_for_operator") return majority_loss::wait_for_operator;
    throw config_error{"after_majority_loss: expected \"recover\" or \"wait_for_operator\", found " + describe(value, false)};
}

lock_options lock_from_json(json const& value)
{
    lock_options options;
    object_reader reader{value, "lock"};
    reader.read("ttl_ms", options.ttl);
    reader.read("clock_drift", options.clock_drift);
    reader.read("lock_delay_ms", options.lock_delay);
    reader.read("node_timeout_ms", options.node_timeout);
    reader.read("acquire_timeout_ms", options.acquire_timeout);
    reader.read_whole("max_attempts", options.max_attempts);
    reader.read("fencing", options.fencing);
    reader.read_whole("token_block", options.token_block);
    reader.read("min_retry_delay_ms", options.min_retry_delay);
    reader.read("max_retry_delay_ms", options.max_retry_delay);
    reader.read("poll_interval_ms", options.poll_interval);
    reader.read_whole("max_handoffs", options.max_handoffs);
    reader.read("max_local_hold_ms", options.max_local_hold);
    reader.read("auto_extend", options.auto_extend);
    reader.read("extend_interval_ms", options.extend_interval);
    reader.read("stop_margin_ms", options.stop_margin);
    reader.read("max_hold_ms", options.max_hold);
    reader.refuse_unknown_keys();
    try {
        validate(options);
    } catch (std::invalid_argument const& error) {
        throw config_error{std::string{"lock: "} + error.what()};
    }
    return options;
}

std::string read_file(std::filesystem::path const& file)
{
    std::error_code ignored;
    if (std::filesystem::is_directory(file, ignored)) throw config_error{"this is a directory, not a file"};
    // "e": a program that another thread starts meanwhile does not inherit it.
    std::unique_ptr<std::FILE, int (*)(std::FILE*)> const stream{std::fopen(file.c_str(), "rbe"), std::fclose};
    if (!stream) throw config_error{"cannot be opened: " + std::generic_category().message(errno)};
    std::string text(max_file_size + 1, '\0');
    text.resize(std::fread(text.data(), 1, text.size(), stream.get()));
    if (std::ferror(stream.get()) != 0) throw config_error{"cannot be read: " + std::generic_category().message(errno)};
    if (text.size() > max_file_size) throw config_error{"is larger than 1 MiB: this is no configuration"};
    return text;
}

}  // namespace

settings settings_from_json(json const& document)
{
    settings result;
    config& client = result.client;
    object_reader reader{document, ""};
    json const* nodes = reader.find("nodes");
    json const* shards = reader.find("shards");
    reader.read("client_name", client.client_name);
    reader.read("connect_timeout_ms", client.connect_timeout);
    reader.read("credentials_timeout_ms", client.credentials_timeout);
    reader.read("min_reconnect_delay_ms", client.min_reconnect_delay);
    reader.read("max_reconnect_delay_ms", client.max_reconnect_delay);
    reader.read("stall_timeout_ms", client.stall_timeout);
    reader.read("replication_timeout_ms", client.replication_timeout);
    reader.read_whole("max_node_queue", client.max_node_queue);
    reader.read("quarantine_folder", client.quarantine_folder);
    reader.read("max_ttl_ms", client.max_ttl);
    reader.read("bootstrap", client.bootstrap);
    reader.read("trust_uptime", client.trust_uptime);
    reader.read("token_retention_ms", client.token_retention);
    reader.read("trust_server_identity", client.trust_server_identity);
    reader.read("label", client.label);
    reader.read("key_format", client.key_format);
    reader.read("set_name", client.set_name);
    if (json const* identity = reader.find("identity")) client.identity = identity_from_json(*identity);
    if (json const* loss = reader.find("after_majority_loss")) client.after_majority_loss = majority_loss_from_json(*loss);
    if (json const* tls = reader.find("tls")) client.tls = tls_from_json(*tls, "tls");
    json const* lock = reader.find("lock");
    reader.refuse_unknown_keys();

    if (!nodes && !shards) throw config_error{"nodes: this key is missing"};
    if (nodes) client.nodes = nodes_from_json(*nodes, "nodes");
    if (shards) client.shards = shards_from_json(*shards);
    if (lock) result.lock = lock_from_json(*lock);
    client.validate();
    if (lock && result.lock.fencing && result.lock.ttl + result.lock.lock_delay > client.max_ttl)
        throw config_error{"lock.ttl_ms: with fencing, and together with lock_delay_ms, it must not be above max_ttl_ms, which is " +
                           std::to_string(client.max_ttl.count())};
    return result;
}

settings parse_settings(std::string_view text) { return settings_from_json(parse_strictly(text)); }

settings load_settings(std::filesystem::path const& file)
{
    try {
        return parse_settings(read_file(file));
    } catch (config_error const& error) {
        throw config_error{file.string() + ": " + error.what()};
    }
}

}  // namespace redlock
