// Configuration from JSON, and client::status() as JSON. The only header that needs nlohmann_json.
#ifndef REDLOCK_JSON_HPP
#define REDLOCK_JSON_HPP

#include <redlock/config.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/options.hpp>
#include <redlock/status.hpp>

#include <nlohmann/json_fwd.hpp>

#include <filesystem>
#include <string_view>

namespace redlock {

/// The contents of a configuration file: the client's configuration, and defaults for its locks.
///
///     {
///       "nodes": ["redis://10.0.0.1?replicas=2", {"host": "10.0.0.2", "port": 6380, "username": "app", "password": "…",
///                                                 "database": 0, "replicas": 2, "fsync": false},
///                 {"host": "10.0.0.3", "username": "app", "password_file": "/run/secrets/redis", "tls": {"server_name": "redis-3"}},
///                 {"unix_socket": "/run/redis/redis.sock", "password_env": "REDIS_PASSWORD"},
///                 {"sentinel": {"master": "mymaster", "addresses": ["10.0.1.1", "10.0.1.2:26380", {"host": "10.0.1.3", "port": 26379}],
///                               "username": "watch", "password": "…", "tls": false}, "username": "app", "password": "…"}],
///       "tls": {"ca_file": "/etc/redlock/ca.pem", "ca_path": "/etc/redlock/ca", "certificate_file": "/etc/redlock/client.pem",
///               "key_file": "/etc/redlock/client.key", "server_name": "redis", "verify": true},
///       "client_name": "billing",          "connect_timeout_ms": 2000,
///       "credentials_timeout_ms": 10000,
///       "min_reconnect_delay_ms": 50,      "max_reconnect_delay_ms": 2000,
///       "stall_timeout_ms": 3000,          "max_node_queue": 8192,
///       "replication_timeout_ms": 200,     "quarantine_folder": "/var/lib/billing/quarantine",
///       "max_ttl_ms": 30000,               "token_retention_ms": 3600000,
///       "identity": "every_message",       "bootstrap": false,
///       "trust_server_identity": false,    "trust_uptime": true,
///       "after_majority_loss": "recover",
///       "label": "nightly",                "key_format": "raw",
///       "set_name": "billing",
///       "lock": {"ttl_ms": 10000, "lock_delay_ms": 0, "clock_drift": 0.01, "node_timeout_ms": 500, "acquire_timeout_ms": 60000, "max_attempts": 0,
///                "fencing": true, "token_block": 1,
///                "min_retry_delay_ms": 2, "max_retry_delay_ms": 1000, "poll_interval_ms": 5000,
///                "max_handoffs": 64, "max_local_hold_ms": 100, "auto_extend": true,
///                "extend_interval_ms": 3333, "stop_margin_ms": 1000, "max_hold_ms": 3600000}
///     }
///
/// Only `nodes` is required, or instead `shards`: a list of lists of nodes. A node's `tls` is `true`, or an object with the same keys as the
/// `tls` for all nodes; missing or `false`: without TLS (see `node_address`). A node with `sentinel` is a group (see `sentinel_options`), one
/// with `{"cluster": {"addresses": ["10.0.2.1"], "shards": 64}}` a Redis Cluster (see `cluster_options`). Other keys are errors, because a
/// misspelt one would have no effect.
struct settings {
    redlock::config client;  ///< For the constructor of `client`.
    lock_options lock;  ///< The values under `lock`, and defaults for the rest.
};

/// Throws `config_error`; the text names the place (`nodes[1].port: …`).
REDLOCK_API settings settings_from_json(nlohmann::json const& document);

/// Reads JSON text, which may have `//` comments. Throws `config_error`; for malformed JSON with line and column.
REDLOCK_API settings parse_settings(std::string_view text);

/// Reads a file. Throws `config_error`, also if the file cannot be read; the text starts with its name.
REDLOCK_API settings load_settings(std::filesystem::path const& file);

/// `client::status()` as JSON: each member under its own name, durations with their unit (`max_overrun_us`), an error as
/// `{"name": "node_unreachable", "message": "…"}` or null. Bytes of servers' texts that are not UTF-8 become U+FFFD. Never contains
/// credentials. Include <nlohmann/json.hpp> to use the result: this header only declares the type.
REDLOCK_API nlohmann::json to_json(client_status const& from);

/// For `nlohmann::json j = client.status()`.
REDLOCK_API void to_json(nlohmann::json& to, client_status const& from);
/// The same for the counters alone.
REDLOCK_API void to_json(nlohmann::json& to, client_counters const& from);
/// The same for one node.
REDLOCK_API void to_json(nlohmann::json& to, node_status const& from);

}  // namespace redlock

#endif
