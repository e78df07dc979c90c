#include "unit/message_support.hpp"

#include <redlock/json.hpp>

#include <nlohmann/json.hpp>

#include <boost/test/unit_test.hpp>

#include <string>

namespace redlock {

namespace {

using namespace std::chrono_literals;

std::string problem_with_json(std::string_view text)
{
    return message_of<config_error>([&] { parse_settings(text); });
}

// One node, and this beside it.
std::string with_key(std::string const& more) { return R"({"nodes": ["redis://a"], )" + more + "}"; }
std::string with_lock(std::string const& members) { return with_key(R"("lock": {)" + members + "}"); }
std::string with_node(std::string const& node) { return R"({"nodes": ["redis://a", )" + node + "]}"; }

}  // namespace

BOOST_AUTO_TEST_SUITE(json)

BOOST_AUTO_TEST_CASE(nodes_are_enough_and_the_rest_has_its_defaults)
{
    settings const s = parse_settings(R"({"nodes": ["redis://10.0.0.1"]})");
    config expected;
    BOOST_REQUIRE(s.client.nodes.size() == 1u);
    BOOST_TEST(s.client.nodes[0].to_string() == "10.0.0.1:6379");
    BOOST_TEST(s.client.client_name == expected.client_name);
    BOOST_TEST(!s.client.trust_server_identity);
    BOOST_TEST((s.client.stall_timeout == expected.stall_timeout));
    BOOST_TEST((s.client.replication_timeout == expected.replication_timeout));
    BOOST_TEST((s.lock.ttl == lock_options{}.ttl));
    BOOST_TEST(!s.lock.node_timeout.has_value());
    BOOST_TEST(!s.lock.acquire_timeout.has_value());
}

BOOST_AUTO_TEST_CASE(every_key_reaches_its_member)
{
    settings const s = parse_settings(R"({
        "nodes": ["redis://10.0.0.1", {"host": "::1", "port": 6380, "username": "app", "password": "pw", "database": 4,
                                          "replicas": 2, "fsync": true}],
        "client_name": "billing", "connect_timeout_ms": 2001, "credentials_timeout_ms": 9999, "min_reconnect_delay_ms": 51, "max_reconnect_delay_ms": 2002,
        "stall_timeout_ms": 10001, "replication_timeout_ms": 201, "max_node_queue": 8193,
        "max_ttl_ms": 40000, "token_retention_ms": 7200000, "quarantine_folder": "/var/lib/q", "identity": "handshake", "bootstrap": true, "trust_uptime": false, "after_majority_loss": "wait_for_operator", "trust_server_identity": true, "label": "nightly", "key_format": "redlock:{0}", "set_name": "orders",
        "lock": {"ttl_ms": 20000, "lock_delay_ms": 3000, "clock_drift": 0.02, "node_timeout_ms": 501, "acquire_timeout_ms": 60001, "max_attempts": 7,
                 "fencing": false, "token_block": 9,
                 "min_retry_delay_ms": 11, "max_retry_delay_ms": 1001, "poll_interval_ms": 5001,
                 "max_handoffs": 65, "max_local_hold_ms": 101, "auto_extend": false,
                 "extend_interval_ms": 3334, "stop_margin_ms": 1002, "max_hold_ms": 3600001}
    })");
    BOOST_REQUIRE(s.client.nodes.size() == 2u);
    node_address const expected{
        .host = "::1", .port = 6380, .username = "app", .password = "pw", .database = 4, .replicas = 2, .fsync = true};
    BOOST_TEST((s.client.nodes[1] == expected));
    BOOST_TEST(s.client.client_name == "billing");
    BOOST_TEST((s.client.connect_timeout == 2'001ms));
    BOOST_TEST((s.client.credentials_timeout == 9'999ms));
    BOOST_TEST((s.client.min_reconnect_delay == 51ms));
    BOOST_TEST((s.client.max_reconnect_delay == 2'002ms));
    BOOST_TEST((s.client.stall_timeout == 10'001ms));
    BOOST_TEST((s.client.replication_timeout == 201ms));
    BOOST_TEST(s.client.max_node_queue == 8'193u);
    BOOST_TEST((s.client.max_ttl == 40s));
    BOOST_TEST((s.client.token_retention == 2h));
    BOOST_TEST(s.client.quarantine_folder == "/var/lib/q");
    BOOST_TEST((s.client.identity == identity_check::handshake));
    BOOST_TEST(s.client.bootstrap);
    BOOST_TEST(!s.client.trust_uptime);
    BOOST_TEST((s.client.after_majority_loss == majority_loss::wait_for_operator));
    BOOST_TEST(s.client.trust_server_identity);
    BOOST_TEST(s.client.label == "nightly");
    BOOST_TEST(s.client.key_format == "redlock:{0}");
    BOOST_TEST(s.client.set_name == "orders");
    BOOST_TEST((s.lock.ttl == 20s));
    BOOST_TEST((s.lock.lock_delay == 3s));
    BOOST_TEST(s.lock.clock_drift == 0.02);
    BOOST_TEST((s.lock.node_timeout == 501ms));
    BOOST_TEST((s.lock.acquire_timeout == 60'001ms));
    BOOST_TEST(s.lock.max_attempts == 7u);
    BOOST_TEST(!s.lock.fencing);
    BOOST_TEST(s.lock.token_block == 9u);
    BOOST_TEST((s.lock.min_retry_delay == 11ms));
    BOOST_TEST((s.lock.max_retry_delay == 1'001ms));
    BOOST_TEST((s.lock.poll_interval == 5'001ms));
    BOOST_TEST(s.lock.max_handoffs == 65u);
    BOOST_TEST((s.lock.max_local_hold == 101ms));
    BOOST_TEST(!s.lock.auto_extend);
    BOOST_TEST((s.lock.extend_interval == 3'334ms));
    BOOST_TEST((s.lock.stop_margin == 1'002ms));
    BOOST_TEST((s.lock.max_hold == 3'600'001ms));
}

BOOST_AUTO_TEST_CASE(what_is_chosen_is_a_word)
{
    BOOST_TEST((parse_settings(with_key(R"("identity": "every_message")")).client.identity == identity_check::every_message));
    BOOST_TEST(problem_with_json(with_key(R"("identity": "never")")) ==
               R"(identity: expected "every_message" or "handshake", found "never")");
    REDLOCK_TEST_CONTAINS(problem_with_json(with_key(R"("identity": 1)")), "found 1");
    BOOST_TEST((parse_settings(with_key(R"("after_majority_loss": "recover")")).client.after_majority_loss == majority_loss::recover));
    BOOST_TEST(problem_with_json(with_key(R"("after_majority_loss": "operator")")) ==
               R"(after_majority_loss: expected "recover" or "wait_for_operator", found "operator")");
}

BOOST_AUTO_TEST_CASE(the_ttl_of_locks_with_tokens_is_within_that_of_the_nodes)
{
    REDLOCK_TEST_CONTAINS(problem_with_json(with_lock(R"("ttl_ms": 31000)")), "max_ttl_ms");
    BOOST_TEST(problem_with_json(with_lock(R"("ttl_ms": 31000, "fencing": false)")) == "");
    BOOST_TEST(problem_with_json(with_key(R"("max_ttl_ms": 31000, "lock": {"ttl_ms": 31000})")) == "");
}

BOOST_AUTO_TEST_CASE(a_document_made_in_code_works_as_well)
{
    nlohmann::json const document = {{"nodes", {"redis://a", "redis://b"}}, {"lock", {{"ttl_ms", 5000}, {"clock_drift", 0}}}};
    settings const s = settings_from_json(document);
    BOOST_TEST(s.client.nodes.size() == 2u);
    BOOST_TEST((s.lock.ttl == 5s));
    BOOST_TEST(s.lock.clock_drift == 0.0);
}

BOOST_AUTO_TEST_CASE(a_document_must_be_an_object_with_nodes)
{
    BOOST_TEST(problem_with_json("[]") == "the document: expected an object, found a list");
    BOOST_TEST(problem_with_json("17") == "the document: expected an object, found 17");
    BOOST_TEST(problem_with_json("{}") == "nodes: this key is missing");
    BOOST_TEST(problem_with_json(R"({"nodes": "redis://a"})") == "nodes: expected a list, found a string");
    BOOST_TEST(problem_with_json(R"({"nodes": []})") == "config::nodes is empty: there must be at least one node");
}

BOOST_AUTO_TEST_CASE(a_duration_is_a_whole_number_of_milliseconds)
{
    std::string const expected = "lock.ttl_ms: expected a whole number of milliseconds, found ";
    for (std::string const bad : {"\"10s\"", "10.0", "10000.5", "-1", "-10000", "true", "null", "18446744073709551615"})
        BOOST_TEST(problem_with_json(with_lock("\"ttl_ms\": " + bad)) == expected + bad);
    BOOST_TEST(problem_with_json(with_lock(R"("ttl_ms": [10000])")) == expected + "a list");
    BOOST_TEST(problem_with_json(with_lock(R"("ttl_ms": {"s": 1})")) == expected + "an object");
    BOOST_TEST(problem_with_json(with_lock(R"("ttl_ms": 1e4)")) == expected + "10000.0");
    BOOST_TEST(problem_with_json(with_lock(R"("ttl_ms": 10000000000000000000000)")) == expected + "1e+22");
}

BOOST_AUTO_TEST_CASE(every_duration_is_read_with_the_same_care)
{
    for (std::string const key : {"node_timeout_ms", "acquire_timeout_ms", "min_retry_delay_ms", "max_retry_delay_ms", "poll_interval_ms",
                                  "max_local_hold_ms", "extend_interval_ms", "stop_margin_ms", "max_hold_ms"})
        BOOST_TEST(problem_with_json(with_lock('"' + key + "\": \"1s\"")) ==
                   "lock." + key + ": expected a whole number of milliseconds, found \"1s\"");
    for (std::string const key :
         {"connect_timeout_ms", "min_reconnect_delay_ms", "max_reconnect_delay_ms", "stall_timeout_ms", "replication_timeout_ms"})
        BOOST_TEST(problem_with_json(with_key('"' + key + "\": 1.5")) == key + ": expected a whole number of milliseconds, found 1.5");
}

BOOST_AUTO_TEST_CASE(other_types_are_checked_too)
{
    BOOST_TEST(problem_with_json(with_lock(R"("auto_extend": 1)")) == "lock.auto_extend: expected true or false, found 1");
    BOOST_TEST(problem_with_json(with_lock(R"("clock_drift": "1%")")) == "lock.clock_drift: expected a number, found \"1%\"");
    BOOST_TEST(problem_with_json(with_key(R"("client_name": 5)")) == "client_name: expected a string, found 5");
    BOOST_TEST(problem_with_json(with_key(R"("lock": 5)")) == "lock: expected an object, found 5");
    REDLOCK_TEST_CONTAINS(problem_with_json(with_lock(R"("max_attempts": 4294967296)")),
                          "lock.max_attempts: expected a whole number between 0 and 4294967295, found 4294967296");
    REDLOCK_TEST_CONTAINS(problem_with_json(with_lock(R"("max_attempts": -1)")), "lock.max_attempts: expected a whole number");
    REDLOCK_TEST_CONTAINS(problem_with_json(with_key(R"("max_node_queue": 1.5)")), "max_node_queue: expected a whole number");
}

BOOST_AUTO_TEST_CASE(a_long_value_is_shortened_in_the_message)
{
    std::string const text = problem_with_json(with_lock("\"ttl_ms\": \"" + std::string(10'000, 'x') + '"'));
    BOOST_TEST(text.size() < 150u);
    BOOST_TEST(text.ends_with("..."));
}

BOOST_AUTO_TEST_CASE(what_is_well_formed_is_validated)
{
    BOOST_TEST(problem_with_json(with_lock(R"("ttl_ms": 5)")) == "lock: lock_options::ttl is 5 ms; it must be between 10 ms and 30 days");
    BOOST_TEST(problem_with_json(with_lock(R"("ttl_ms": 9223372036854775807)")) ==
               "lock: lock_options::ttl is 9223372036854775807 ms; it must be between 10 ms and 30 days");
    BOOST_TEST(problem_with_json(with_key(R"("connect_timeout_ms": 1)")) ==
               "config::connect_timeout is 1 ms; it must be between 10 ms and 10 min");
    BOOST_TEST(problem_with_json(with_key(R"("client_name": "")")) == "config::client_name is empty");
    BOOST_TEST(problem_with_json(with_node("\"redis://A\"")) ==
               "nodes[1] (A:6379): the same server as nodes[0]; every vote must come from a server of its own");
}

BOOST_AUTO_TEST_CASE(an_unknown_key_is_an_error_that_names_the_nearest_known_one)
{
    BOOST_TEST(problem_with_json(with_lock(R"("tll_ms": 5000)")) == "lock: unknown key \"tll_ms\"; the nearest known one is \"ttl_ms\"");
    BOOST_TEST(problem_with_json(with_lock(R"("ttl": 5000)")) == "lock: unknown key \"ttl\"; the nearest known one is \"ttl_ms\"");
    BOOST_TEST(problem_with_json(with_lock(R"("min_retry_ms": 5)")) ==
               "lock: unknown key \"min_retry_ms\"; the nearest known one is \"min_retry_delay_ms\"");
    BOOST_TEST(problem_with_json(with_key(R"("conect_timeout_ms": 5000)")) ==
               "unknown key \"conect_timeout_ms\"; the nearest known one is \"connect_timeout_ms\"");
    BOOST_TEST(problem_with_json(R"({"node": ["redis://a"]})") == "unknown key \"node\"; the nearest known one is \"nodes\"");
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "user": "x"})")) ==
               "nodes[1]: unknown key \"user\"; the nearest known one is \"username\"");
    BOOST_TEST(problem_with_json(with_key(R"("Client_Name": "x")")) ==
               "unknown key \"Client_Name\"; the nearest known one is \"client_name\"");
}

BOOST_AUTO_TEST_CASE(a_key_of_another_level_is_unknown)
{
    REDLOCK_TEST_CONTAINS(problem_with_json(with_key(R"("ttl_ms": 5000)")), "unknown key \"ttl_ms\"");
    REDLOCK_TEST_CONTAINS(problem_with_json(with_lock(R"("nodes": [])")), "lock: unknown key \"nodes\"");
}

BOOST_AUTO_TEST_CASE(a_key_that_appears_twice_is_an_error)
{
    BOOST_TEST(problem_with_json(with_lock(R"("ttl_ms": 5000, "ttl_ms": 6000)")) == "lock.ttl_ms: this key appears twice");
    BOOST_TEST(problem_with_json(with_key(R"("nodes": ["redis://b"])")) == "nodes: this key appears twice");
    std::string const twice = "nodes[1].host: this key appears twice";
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "port": 1, "host": "c"})")) == twice);
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "\u0068ost": "c"})")) == twice);
}

BOOST_AUTO_TEST_CASE(equal_keys_of_different_objects_are_fine)
{
    BOOST_TEST(problem_with_json(R"({"nodes": [{"host": "a"}, {"host": "b"}, {"host": "c"}], "lock": {}})") == "");
}

BOOST_AUTO_TEST_CASE(a_node_is_a_url_or_an_object)
{
    BOOST_TEST(problem_with_json(with_node("17")) == "nodes[1]: expected a redis:// URL or an object, found a number");
    BOOST_TEST(problem_with_json(with_node("null")) == "nodes[1]: expected a redis:// URL or an object, found something else");
    BOOST_TEST(problem_with_json(with_node("[]")) == "nodes[1]: expected a redis:// URL or an object, found a list");
    BOOST_TEST(problem_with_json(with_node("\"b\"")) == "nodes[1]: the URL has no scheme; write redis://host:port");
    BOOST_TEST(problem_with_json(with_node("{}")) == "nodes[1].host: this key is missing");
    BOOST_TEST(problem_with_json(with_node(R"({"host": ""})")) == "nodes[1]: the host is empty");
    BOOST_TEST(problem_with_json(with_node(R"({"host": 5})")) == "nodes[1].host: expected a string, found a number");
    for (std::string const port : {"0", "65536", "-1", "1.5", "\"6379\""})
        REDLOCK_TEST_CONTAINS(problem_with_json(with_node(R"({"host": "b", "port": )" + port + "}")),
                              "nodes[1].port: expected a whole number between 1 and 65535, found ");
    REDLOCK_TEST_CONTAINS(problem_with_json(with_node(R"({"host": "b", "database": 65536})")),
                          "nodes[1].database: expected a whole number between 0 and 65535, found ");
    REDLOCK_TEST_CONTAINS(problem_with_json(with_node(R"({"host": "b", "replicas": 101})")),
                          "nodes[1].replicas: expected a whole number between 0 and 100, found ");
    REDLOCK_TEST_CONTAINS(problem_with_json(with_node(R"({"host": "b", "fsync": "yes"})")),
                          "nodes[1].fsync: expected true or false, found ");
}

BOOST_AUTO_TEST_CASE(how_a_node_is_reached)
{
    settings const s = parse_settings(R"({
        "nodes": [{"host": "a", "tls": true}, {"host": "b", "tls": false},
                  {"host": "c", "tls": {"ca_file": "ca.pem", "ca_path": "ca", "certificate_file": "c.pem", "key_file": "k.pem",
                                        "server_name": "x", "verify": false}},
                  {"host": "d", "username": "app", "password_file": "/run/p"}, {"host": "e", "password_env": "P"}],
        "tls": {"ca_file": "all.pem", "server_name": "y"}})");
    auto const& nodes = s.client.nodes;
    tls_options const own{
        .ca_file = "ca.pem", .ca_path = "ca", .certificate_file = "c.pem", .key_file = "k.pem", .server_name = "x", .verify = false};
    BOOST_REQUIRE(nodes.size() == 5u);
    BOOST_TEST((nodes[0].tls == tls_options{}));
    BOOST_TEST(!nodes[1].tls.has_value());
    BOOST_TEST((nodes[2].tls == own));
    BOOST_TEST(nodes[3].username == "app");
    BOOST_TEST(nodes[3].password_file == "/run/p");
    BOOST_TEST(nodes[4].password_env == "P");
    BOOST_TEST((s.client.tls == tls_options{.ca_file = "all.pem", .server_name = "y"}));
}

BOOST_AUTO_TEST_CASE(mistakes_in_how_a_node_is_reached_are_named_with_their_place)
{
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "tls": "yes"})")) ==
               "nodes[1].tls: expected true, false or an object, found a string");
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "tls": {"verify": "no"}})")) ==
               "nodes[1].tls.verify: expected true or false, found a string");
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "tls": {"ca": "x"}})")) ==
               "nodes[1].tls: unknown key \"ca\"; the nearest known one is \"ca_file\"");
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "tls": {"key_file": "k"}})")) ==
               "nodes[1].tls: there is a key_file but no certificate_file");
    BOOST_TEST(problem_with_json(with_key(R"("tls": true)")) == "tls: expected an object, found something else");
    BOOST_TEST(problem_with_json(with_key(R"("tls": {"server_name": "a b"})")) ==
               "tls: the server_name contains a space or a control character");
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "password_file": 5})")) ==
               "nodes[1].password_file: expected a string, found a number");
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "password_file": "p"})")) ==
               "nodes[1] (b:6379): the password_file must be an absolute path");
    BOOST_TEST(problem_with_json(with_node(R"({"host": "b", "password": "p", "password_env": "P"})")) ==
               "nodes[1] (b:6379): there may be only one of password, password_file and password_env");
    BOOST_TEST(problem_with_json(with_node(R"({"unix_socket": "s"})")) == "nodes[1]: the unix_socket must be an absolute path");
    BOOST_TEST(problem_with_json(with_node(R"({"unix_socket": "/s", "host": "b"})")) ==
               "nodes[1]: there may be only one of host and unix_socket");
    BOOST_TEST(problem_with_json(with_node(R"({"unix_socket": "/s", "tls": true})")) == "nodes[1]: there is no TLS on a unix_socket");
    BOOST_TEST(problem_with_json(with_node(R"({"unix_socket": 1})")) == "nodes[1].unix_socket: expected a string, found a number");
}

BOOST_AUTO_TEST_CASE(secrets_are_never_repeated)
{
    for (std::string const bad : {R"({"host": "b", "password_file": "hunter2"})",
                                  R"({"host": "b", "password_env": "hunter2="})",
                                  R"({"host": "b", "password": "hunter2", "password_env": "hunter2"})",
                                  R"({"unix_socket": "hunter2"})",
                                  R"({"host": "b", "tls": "hunter2"})",
                                  R"({"host": "b", "tls": {"server_name": "hunter2 "}})",
                                  R"({"host": "b", "tls": {"key_file": "hunter2"}})",
                                  R"({"host": "b", "username": "app", "password": ["hunter2"]})",
                                  R"({"host": "b", "password": {"hunter2": 1}})",
                                  R"({"host": "b", "port": "hunter2"})",
                                  R"({"host": ["hunter2"]})",
                                  R"({"host": "b", "password": 4711})",
                                  R"({"host": "b", "password": 4711, "port": 0})",
                                  R"({"host": "b", "pasword": "hunter2"})",
                                  R"({"host": "b c", "password": "hunter2"})",
                                  R"({"host": "hunter2@b", "password": "x"})",
                                  R"({"host": "b", "username": "", "password": "hunter2"})",
                                  R"("redis://app:hunter2@b:x")",
                                  R"("redis://hunter2@b")",
                                  R"(["redis://app:hunter2@b"])",
                                  R"({"host": "b", "password": "hunter2)",
                                  R"({"host": "b", "password": "hunter2" "x"})",
                                  R"({"host": "b", "password": "hunter2\x"})",
                                  R"({"host": "b", "password": hunter2})",
                                  R"({"host": "a", "username": "app", "password": "hunter2"})",
                                  "{\"host\": \"b\", \"password\": \"hunter2\n\"}",
                                  R"({"redis://app:hunter2@b": {}})",
                                  R"({"host": "b", "app:hunter2@b": 1, "app:hunter2@b": 2})"}) {
        std::string const text = problem_with_json(with_node(bad));
        BOOST_TEST(!text.empty(), bad << " was accepted");
        BOOST_TEST(!contains(text, "hunter"), text);
        BOOST_TEST(!contains(text, "4711"), text);
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
