// Configurations: any text, and documents that are nearly right. Each is refused with a config_error that tells no password, or
// gives settings that are valid, and equal to those that are read when they are written down.
#include "secret.hpp"

#include <redlock/json.hpp>

#include <nlohmann/json.hpp>

#include <stdexcept>

namespace redlock::fuzz {
namespace {

using nlohmann::json;

json to_json(tls_options const& t)
{
    return {{"ca_file", t.ca_file},   {"ca_path", t.ca_path},         {"certificate_file", t.certificate_file},
            {"key_file", t.key_file}, {"server_name", t.server_name}, {"verify", t.verify}};
}

json to_json(sentinel_options const& s)
{
    json result{{"master", s.master},
                {"username", s.username},
                {"password", s.password},
                {"password_file", s.password_file},
                {"password_env", s.password_env},
                {"tls", false},
                {"addresses", json::array()}};
    if (s.tls) result["tls"] = to_json(*s.tls);
    for (auto const& a : s.addresses) result["addresses"].push_back({{"host", a.host}, {"port", a.port}});
    return result;
}

json to_json(cluster_options const& c)
{
    json result{{"shards", c.shards}, {"addresses", json::array()}};
    for (auto const& a : c.addresses)
        result["addresses"].push_back(a.host.find(':') == a.host.npos ? a.host + ':' + std::to_string(a.port)
                                                                      : '[' + a.host + "]:" + std::to_string(a.port));
    return result;
}

json to_json(node_address const& n)
{
    json result{{"host", n.host},
                {"port", n.port},
                {"unix_socket", n.unix_socket},
                {"username", n.username},
                {"password", n.password},
                {"database", n.database},
                {"password_file", n.password_file},
                {"password_env", n.password_env},
                {"replicas", n.replicas},
                {"fsync", n.fsync},
                {"tls", false}};
    if (n.tls) result["tls"] = to_json(*n.tls);
    if (n.sentinel) result["sentinel"] = to_json(*n.sentinel);
    if (n.cluster) result["cluster"] = to_json(*n.cluster);
    if ((n.sentinel || n.cluster) && n.replicas == 0) result.erase("replicas");
    return result;
}

void put(json& to, char const* key, std::optional<std::chrono::milliseconds> const& d)
{
    if (d) to[key] = d->count();
}

json to_json(lock_options const& o)
{
    json result{{"ttl_ms", o.ttl.count()},
                {"clock_drift", o.clock_drift},
                {"max_attempts", o.max_attempts},
                {"fencing", o.fencing},
                {"token_block", o.token_block},
                {"min_retry_delay_ms", o.min_retry_delay.count()},
                {"max_retry_delay_ms", o.max_retry_delay.count()},
                {"poll_interval_ms", o.poll_interval.count()},
                {"max_handoffs", o.max_handoffs},
                {"max_local_hold_ms", o.max_local_hold.count()},
                {"auto_extend", o.auto_extend}};
    put(result, "node_timeout_ms", o.node_timeout);
    put(result, "acquire_timeout_ms", o.acquire_timeout);
    put(result, "extend_interval_ms", o.extend_interval);
    put(result, "stop_margin_ms", o.stop_margin);
    put(result, "max_hold_ms", o.max_hold);
    return result;
}

json to_json(settings const& s)
{
    config const& c = s.client;
    json result{{"client_name", c.client_name},
                {"connect_timeout_ms", c.connect_timeout.count()},
                {"credentials_timeout_ms", c.credentials_timeout.count()},
                {"min_reconnect_delay_ms", c.min_reconnect_delay.count()},
                {"max_reconnect_delay_ms", c.max_reconnect_delay.count()},
                {"stall_timeout_ms", c.stall_timeout.count()},
                {"max_node_queue", c.max_node_queue},
                {"max_ttl_ms", c.max_ttl.count()},
                {"token_retention_ms", c.token_retention.count()},
                {"quarantine_folder", c.quarantine_folder},
                {"bootstrap", c.bootstrap},
                {"trust_uptime", c.trust_uptime},
                {"trust_server_identity", c.trust_server_identity},
                {"tls", to_json(c.tls)},
                {"label", c.label},
                {"key_format", c.key_format},
                {"after_majority_loss", c.after_majority_loss == majority_loss::recover ? "recover" : "wait_for_operator"},
                {"identity", c.identity == identity_check::handshake ? "handshake" : "every_message"}};
    for (node_address const& n : c.nodes) result["nodes"].push_back(to_json(n));
    for (auto const& nodes : c.shards) {
        json shard = json::array();
        for (node_address const& n : nodes) shard.push_back(to_json(n));
        result["shards"].push_back(std::move(shard));
    }
    // Where a document says nothing of locks, their default ttl may be above its max_ttl: left to the lock's constructor.
    if (!s.lock.fencing || s.lock.ttl <= c.max_ttl) result["lock"] = to_json(s.lock);
    return result;
}

// Texts that mean the same to us; a password that is no UTF-8 cannot be in a document.
void check_settings(settings const& s)
{
    s.client.validate();
    validate(s.lock);
    json const written = to_json(s);
    json again;
    try {
        again = to_json(settings_from_json(written));
    } catch (config_error const& error) {
        check(false, "settings that could be read can be read again", error.what());
    }
    check(again == written, "settings can be written and read again");
}

template <class Read>
void read(Read from, bool secret_inside)
{
    try {
        check_settings(from());
    } catch (config_error const& error) {
        check(!std::string_view{error.what()}.empty(), "a refusal says why");
        check(!secret_inside || !tells_the_secret(error.what()), "a refusal tells no password", error.what());
    }
}

constexpr std::array keys{"nodes",
                          "client_name",
                          "connect_timeout_ms",
                          "credentials_timeout_ms",
                          "min_reconnect_delay_ms",
                          "max_reconnect_delay_ms",
                          "stall_timeout_ms",
                          "max_node_queue",
                          "max_ttl_ms",
                          "token_retention_ms",
                          "quarantine_folder",
                          "after_majority_loss",
                          "identity",
                          "bootstrap",
                          "trust_uptime",
                          "trust_server_identity",
                          "lock",
                          "tls",
                          "shards",
                          "unknown"};
constexpr std::array lock_keys{
    "ttl_ms",      "clock_drift",        "node_timeout_ms",    "acquire_timeout_ms", "max_attempts", "fencing",
    "token_block", "min_retry_delay_ms", "max_retry_delay_ms", "poll_interval_ms",   "max_handoffs", "max_local_hold_ms",
    "auto_extend", "extend_interval_ms", "stop_margin_ms",     "max_hold_ms",        "unknown"};
constexpr std::array node_keys{"host",     "port",  "username", "password",    "database", "password_file", "password_env",
                               "replicas", "fsync", "tls",      "unix_socket", "unknown",  "sentinel",      "cluster"};
constexpr std::array tls_keys{"ca_file", "ca_path", "certificate_file", "key_file", "server_name", "verify", "unknown"};

json any_value(input& in)
{
    switch (in.below(9)) {
    case 0: return in.number(2);
    case 1: return in.number(8);
    case 2: return -static_cast<std::int64_t>(in.number(7));
    case 3: return static_cast<double>(in.number(2)) / 1000.0;
    case 4: return in.flag();
    case 5: return json::array();
    case 6: return json::object();
    case 7: return nullptr;
    default: return std::string{in.text(12)};
    }
}

json any_tls(input& in)
{
    json tls = json::object();
    for (std::size_t i = in.below(4); i > 0; --i) {
        char const* key = in.one_of(tls_keys);
        tls[key] = in.flag() ? any_value(in) : json(with_secrets(in.text(12)));
    }
    return tls;
}

// Nothing tells a password alone from the name of a host, and hosts are named in refusals. With an '@' it cannot be one.
std::string host_or_mistake(std::string const& text) { return tells_the_secret(text) ? '@' + text : text; }

json any_sentinel(input& in)
{
    json result{{"master", "m"}, {"password", secret}, {"addresses", {"h1", host_or_mistake(with_secrets(in.text(8)))}}};
    if (in.flag()) result[in.one_of(node_keys)] = in.flag() ? any_value(in) : json(with_secrets(in.text(12)));
    if (in.flag()) result["addresses"] = any_value(in);
    return result;
}

json any_cluster(input& in)
{
    json result{{"addresses", {"h1", host_or_mistake(with_secrets(in.text(8)))}}};
    if (in.flag()) result["shards"] = any_value(in);
    if (in.flag()) result["addresses"] = any_value(in);
    return result;
}

// Here the secret stands where a password is meant, or a mistake put it.
json any_node(input& in)
{
    switch (in.below(4)) {
    case 0: return with_secrets("redis://u:\1@") + std::string{in.text(20)};
    case 1: return with_secrets(in.text(30));
    case 2: return any_value(in);
    default: break;
    }
    json node{{"host", "h" + std::to_string(in.below(4))}, {"password", secret}};
    for (std::size_t i = in.below(4); i > 0; --i) {
        char const* key = in.one_of(node_keys);
        node[key] = in.flag() ? any_value(in) : json(with_secrets(in.text(12)));
        if (std::string_view{key} == "host" && node[key].is_string()) node[key] = host_or_mistake(node[key].get<std::string>());
        if (std::string_view{key} == "tls" && in.flag()) node[key] = any_tls(in);
        if (std::string_view{key} == "sentinel" && in.flag()) node[key] = any_sentinel(in);
        if (std::string_view{key} == "cluster" && in.flag()) node[key] = any_cluster(in);
    }
    if (in.flag() && (node.contains("sentinel") || node.contains("cluster"))) node.erase("host");
    return node;
}

json any_document(input& in)
{
    json document = json::object();
    for (std::size_t i = 1 + in.below(3); i > 0; --i) document["nodes"].push_back(any_node(in));
    for (std::size_t i = in.below(6); i > 0; --i) {
        char const* key = in.one_of(keys);
        if (std::string_view{key} == "lock") {
            for (std::size_t k = in.below(6); k > 0; --k) document[key][in.one_of(lock_keys)] = any_value(in);
        } else if (std::string_view{key} == "shards" && in.flag()) {
            document[key] = json::array();
            for (std::size_t k = in.below(3); k > 0; --k) document[key].push_back(json::array({any_node(in)}));
            if (in.flag()) document.erase("nodes");
        } else {
            document[key] = std::string_view{key} == "tls" && in.flag() ? any_tls(in) : any_value(in);
        }
    }
    return document;
}

}  // namespace
}  // namespace redlock::fuzz

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size)
{
    using namespace redlock;
    using namespace redlock::fuzz;
    if (spells_the_secret(data, size)) return 0;
    input in{data, size};
    if (in.byte() == '{' || in.flag()) {  // a text begins with its brace
        std::string_view const text{reinterpret_cast<char const*>(data), size};
        read([&] { return parse_settings(text); }, false);
        return 0;
    }
    json const document = any_document(in);
    read([&] { return settings_from_json(document); }, true);
    std::string const text = document.dump(-1, ' ', false, json::error_handler_t::replace);
    std::size_t const cut = in.number(2) % (text.size() + 1);
    read([&] { return parse_settings(std::string_view{text}.substr(0, cut)); }, true);
    read([&] { return parse_settings(text); }, true);
    return 0;
}
