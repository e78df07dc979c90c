#include "unit/message_support.hpp"

#include "node/connection/node_address.hpp"

#include <redlock/config.hpp>

#include <boost/version.hpp>

#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

namespace redlock {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

node_address node(std::string host, std::uint16_t port = 6379) { return {.host = std::move(host), .port = port, .password = {}}; }

config three_nodes()
{
    config c;
    c.nodes = {node("a"), node("b"), node("c")};
    return c;
}

template <class Change>
std::string problem_with(Change change)
{
    config c = three_nodes();
    change(c);
    return message_of<config_error>([&] { c.validate(); });
}

std::string problem_with_urls(std::vector<std::string> const& urls)
{
    return message_of<config_error>([&] { config::from_urls(urls); });
}

void check_bounds(std::string const& name, milliseconds config::* member, std::initializer_list<milliseconds> good,
                  std::initializer_list<milliseconds> bad)
{
    for (milliseconds value : good) {
        auto const text = problem_with([&](config& c) { c.*member = value; });
        BOOST_TEST(text.empty(), name << " = " << value.count() << " ms: " << text);
    }
    for (milliseconds value : bad) {
        auto const text = problem_with([&](config& c) { c.*member = value; });
        BOOST_TEST(text.starts_with("config::" + name + " is "), name << " = " << value.count() << " ms: " << text);
    }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(configuration)

BOOST_AUTO_TEST_CASE(urls_become_nodes_in_their_order)
{
    config const c = config::from_urls({"redis://10.0.0.1", "redis://:pw@10.0.0.2:7000", "redis://[::1]/3"});
    BOOST_REQUIRE(c.nodes.size() == 3u);
    BOOST_TEST(c.nodes[0].to_string() == "10.0.0.1:6379");
    BOOST_TEST(c.nodes[1].to_string() == "10.0.0.2:7000");
    BOOST_TEST(c.nodes[1].password == "pw");
    BOOST_TEST(c.nodes[2].to_string() == "[::1]:6379");
    BOOST_TEST(c.nodes[2].database == 3);
    BOOST_TEST(c.client_name == "redlock");
}

BOOST_AUTO_TEST_CASE(a_bad_url_is_named_by_its_place)
{
    BOOST_TEST(problem_with_urls({"redis://a", "redis://b", "redis://c:0"}) ==
               "nodes[2]: the URL's port is not a number between 1 and 65535");
    REDLOCK_TEST_CONTAINS(problem_with_urls({"b"}), "nodes[0]: the URL has no scheme");
}

BOOST_AUTO_TEST_CASE(a_bad_url_does_not_reveal_its_password)
{
    BOOST_TEST(!contains(problem_with_urls({"redis://a", "redis://app:hunter2@b:x"}), "hunter2"));
    BOOST_TEST(!contains(problem_with_urls({"redis://app:hunter2@b", "redis://app:hunter2@b"}), "hunter2"));
}

BOOST_AUTO_TEST_CASE(from_one_node_to_fifteen)
{
    std::string const empty = "config::nodes is empty: there must be at least one node";
    BOOST_TEST(problem_with([](config& c) { c.nodes.clear(); }) == empty);
    BOOST_TEST(problem_with_urls({}) == empty);
    BOOST_TEST(problem_with([](config& c) { c.nodes.resize(1); }) == "");
    auto const with_nodes = [](std::uint16_t count) {
        return problem_with([=](config& c) {
            c.nodes.clear();
            for (std::uint16_t port = 1; port <= count; ++port) c.nodes.push_back(node("h", port));
        });
    };
    BOOST_TEST(with_nodes(15) == "");
    BOOST_TEST(with_nodes(16) == "config::nodes has 16 nodes; there may be at most 15");
}

BOOST_AUTO_TEST_CASE(one_server_is_one_node_however_it_is_written)
{
    char const* const expected = "nodes[3] (";
    auto const with = [](node_address extra) { return problem_with([&](config& c) { c.nodes.push_back(extra); }); };
    BOOST_TEST(with(node("b")) == "nodes[3] (b:6379): the same server as nodes[1]; every vote must come from a server of its own");
    REDLOCK_TEST_CONTAINS(with(node("B")), expected);
    REDLOCK_TEST_CONTAINS(with(node("b.")), expected);
    REDLOCK_TEST_CONTAINS(with({.host = "b", .password = "pw", .database = 7}), expected);
    BOOST_TEST(with(node("b", 6380)) == "");
    BOOST_TEST(with(node("bb")) == "");
}

BOOST_AUTO_TEST_CASE(one_ipv6_address_is_one_node_however_it_is_written)
{
    BOOST_TEST(problem_with_urls({"redis://[2001:db8::1]", "redis://[2001:DB8:0:0:0:0:0:1]"}) != "");
    BOOST_TEST(problem_with_urls({"redis://[2001:db8::1]", "redis://[2001:db8::2]"}) == "");
    BOOST_TEST(problem_with_urls({"redis://[fe80::1%25eth0]", "redis://[fe80::1%25eth1]"}) == "");
}

BOOST_AUTO_TEST_CASE(a_node_made_in_code_is_checked_like_one_from_a_url)
{
    auto const with = [](node_address bad) { return problem_with([&](config& c) { c.nodes[1] = bad; }); };
    BOOST_TEST(with(node("")) == "nodes[1]: the host is empty");
    BOOST_TEST(with(node("b", 0)) == "nodes[1] (b:0): the port must be between 1 and 65535");
    REDLOCK_TEST_CONTAINS(with(node("b c")), "nodes[1]: the host contains a space");
    REDLOCK_TEST_CONTAINS(with(node("b\n")), "nodes[1]: the host contains a space or a control character");
    REDLOCK_TEST_CONTAINS(with(node("b:6379")), "contains a ':' but is not an IPv6 address");
    REDLOCK_TEST_CONTAINS(with(node("[::1]")), "contains a ':' but is not an IPv6 address");
    REDLOCK_TEST_CONTAINS(with(node(std::string{"::1\0", 4})), "contains a ':' but is not an IPv6 address");
    REDLOCK_TEST_CONTAINS(with(node("redis://b")), "nodes[1]: the host contains");
    REDLOCK_TEST_CONTAINS(with({.host = "b", .username = "", .password = "pw"}), "nodes[1] (b:6379): the username is empty");
    REDLOCK_TEST_CONTAINS(with({.host = "b", .username = "app", .password = ""}), "a username but no password");
    BOOST_TEST(with(node("::1")) == "");
    BOOST_TEST(with({.host = "b", .password = "", .replicas = 101}) ==
               "nodes[1] (b:6379): it waits for 101 replicas; there may be at most 100");
    BOOST_TEST(with({.host = "b", .password = "", .replicas = 100, .fsync = true}) == "");
}

BOOST_AUTO_TEST_CASE(connections_made_in_code_are_checked_too)
{
    auto const with = [](node_address bad) { return problem_with([&](config& c) { c.nodes[1] = bad; }); };
    BOOST_TEST(with({.host = "b", .username = "app", .password = {}, .password_file = "/p"}) == "");
    BOOST_TEST(with({.host = "b", .username = "app", .password = {}, .password_env = "P"}) == "");
    BOOST_TEST(with({.host = "b", .password = {}, .tls = tls_options{.ca_file = "ca"}}) == "");
    BOOST_TEST(with({.host = "b", .password = {}, .password_file = "p"}) ==
               "nodes[1] (b:6379): the password_file must be an absolute path");
    BOOST_TEST(with({.host = "b", .password = {}, .tls = tls_options{.key_file = "k", .verify = false}}) ==
               "nodes[1] (b:6379 (TLS, not verified)): there is a key_file but no certificate_file");
    BOOST_TEST(problem_with([](config& c) { c.tls.server_name = "a b"; }) ==
               "config::tls: the server_name contains a space or a control character");
}

BOOST_AUTO_TEST_CASE(unix_sockets_need_a_newer_boost)
{
    auto const problem = problem_with_urls({"unix:///run/redis.sock"});
#if BOOST_VERSION < 108900
    BOOST_TEST(problem ==
               "nodes[0]: unix sockets need a library built with Boost 1.89 or newer, and this one was built with " BOOST_LIB_VERSION);
#else
    BOOST_TEST(problem == "");
    REDLOCK_TEST_CONTAINS(problem_with_urls({"unix:///run/redis.sock", "unix:///run/../run//redis.sock?db=3"}),
                          "the same server as nodes[0]");
    BOOST_TEST(problem_with_urls({"unix:///run/a.sock", "unix:///run/b.sock"}) == "");
#endif
}

// What a node says of itself stands; the rest comes from what is said for all.
BOOST_AUTO_TEST_CASE(what_is_said_for_all_nodes_completes_each)
{
    tls_options const for_all{.ca_file = "ca", .certificate_file = "c", .key_file = "k", .server_name = "all"};
    auto const made_of = [&](tls_options const& own) { return completed({.host = "h", .password = {}, .tls = own}, for_all).tls.value(); };
    BOOST_TEST((made_of({}) == for_all));
    BOOST_TEST((made_of({.ca_path = "d"}) == tls_options{.ca_path = "d", .certificate_file = "c", .key_file = "k", .server_name = "all"}));
    BOOST_TEST((made_of({.certificate_file = "both"}) == tls_options{.ca_file = "ca", .certificate_file = "both", .server_name = "all"}));
    BOOST_TEST(made_of({.server_name = "mine"}).server_name == "mine");
    BOOST_TEST(!made_of({.verify = false}).verify);
    BOOST_TEST(!completed({.host = "h", .password = {}, .tls = tls_options{}}, {.verify = false}).tls->verify);
    BOOST_TEST(!completed({.host = "h", .password = {}}, for_all).tls.has_value());
}

BOOST_AUTO_TEST_CASE(the_client_name_is_one_the_servers_accept)
{
    for (std::string const good : {"x", "billing-7", "a.b_c:d/e", "!~"})
        BOOST_TEST(problem_with([&](config& c) { c.client_name = good; }) == "");
    BOOST_TEST(problem_with([](config& c) { c.client_name = ""; }) == "config::client_name is empty");
    for (std::string const bad : {"a b", " ", "a\n", "a\t", "caf\xc3\xa9", "\x7f"})
        REDLOCK_TEST_CONTAINS(problem_with([&](config& c) { c.client_name = bad; }), "config::client_name contains");
}

BOOST_AUTO_TEST_CASE(the_label_is_one_that_values_can_carry)
{
    for (std::string const& good : {std::string{}, std::string{"nightly"}, std::string{"a:b,c;~!"}, std::string(64, 'x')})
        BOOST_TEST(problem_with([&](config& c) { c.label = good; }) == "");
    BOOST_TEST(problem_with([](config& c) { c.label = std::string(65, 'x'); }) == "config::label is longer than 64 characters");
    for (std::string const bad : {"a b", " ", "a\n", "caf\xc3\xa9", "\x7f"})
        REDLOCK_TEST_CONTAINS(problem_with([&](config& c) { c.label = bad; }), "config::label contains");
}

BOOST_AUTO_TEST_CASE(connect_timeout)
{
    check_bounds("connect_timeout", &config::connect_timeout, {10ms, 2s, 10min},
                 {9ms, 0ms, -1ms, 10min + 1ms, milliseconds::max(), milliseconds::min()});
}

BOOST_AUTO_TEST_CASE(credentials_timeout)
{
    check_bounds("credentials_timeout", &config::credentials_timeout, {10ms, 10s, 10min},
                 {9ms, 0ms, -1ms, 10min + 1ms, milliseconds::max(), milliseconds::min()});
}

BOOST_AUTO_TEST_CASE(reconnect_delays)
{
    check_bounds("min_reconnect_delay", &config::min_reconnect_delay, {1ms, 2s},
                 {0ms, -1ms, 2'001ms, milliseconds::max(), milliseconds::min()});
    check_bounds("max_reconnect_delay", &config::max_reconnect_delay, {50ms, 24h},
                 {0ms, -1ms, 24h + 1ms, milliseconds::max(), milliseconds::min()});
    BOOST_TEST(problem_with([](config& c) { c.max_reconnect_delay = 49ms; }) ==
               "config::min_reconnect_delay is 50 ms; it must be between 1 ms and max_reconnect_delay, which is 49 ms");
}

BOOST_AUTO_TEST_CASE(stall_timeout)
{
    check_bounds("stall_timeout", &config::stall_timeout, {100ms, 24h},
                 {99ms, 0ms, -1ms, 24h + 1ms, milliseconds::max(), milliseconds::min()});
}

BOOST_AUTO_TEST_CASE(replication_timeout)
{
    check_bounds("replication_timeout", &config::replication_timeout, {1ms, 1min},
                 {0ms, -1ms, 1min + 1ms, milliseconds::max(), milliseconds::min()});
}

BOOST_AUTO_TEST_CASE(max_ttl)
{
    check_bounds("max_ttl", &config::max_ttl, {10ms, 30s, 15min},
                 {9ms, 0ms, -1ms, 30 * 24h + 1ms, milliseconds::max(), milliseconds::min()});
}

BOOST_AUTO_TEST_CASE(token_retention)
{
    check_bounds("token_retention", &config::token_retention, {2min, 1h, 365 * 24h},
                 {2min - 1ms, 0ms, -1ms, 365 * 24h + 1ms, milliseconds::max(), milliseconds::min()});
    BOOST_TEST(problem_with([](config& c) { c.max_ttl = 20min; }) ==
               "config::token_retention is 60 min; it must be between four times max_ttl, which is 20 min, and 365 days");
}

BOOST_AUTO_TEST_CASE(the_name_of_a_set_and_its_place_among_shards)
{
    BOOST_TEST(problem_with([](config& c) { c.set_name = "orders"; }) == "");
    BOOST_TEST(problem_with([](config& c) { c.set_name = "-"; }) == "config::set_name must not be \"-\"");
    BOOST_TEST(problem_with([](config& c) { c.set_name = std::string(65, 'x'); }) == "config::set_name is longer than 64 characters");
    REDLOCK_TEST_CONTAINS(problem_with([](config& c) { c.set_name = "a b"; }), "config::set_name contains");
    BOOST_TEST(problem_with([](config& c) { c.place = shard_place{1, 2}; }) == "");
    REDLOCK_TEST_CONTAINS(problem_with([](config& c) {
                              c.nodes = {node_address::from_url("redis-cluster://a:1?shards=64")};
                              c.place = shard_place{3, 32};
                          }),
                          "config::place is one of 32 shards, and the Redis Cluster has 64");
    REDLOCK_TEST_CONTAINS(problem_with([](config& c) { c.place = shard_place{2, 2}; }), "config::place is for one set");
    REDLOCK_TEST_CONTAINS(problem_with([](config& c) { c.place = shard_place{2, 65}; }), "out of at most 64 shards");
    BOOST_TEST(problem_with([](config& c) {
                   c.nodes = {node_address::from_url("redis-cluster://a:1?shards=256")};
                   c.place = shard_place{200, 256};
               }) == "");
}

BOOST_AUTO_TEST_CASE(quarantine_folder)
{
    auto const with = [](std::string const& path) { return problem_with([=](config& c) { c.quarantine_folder = path; }); };
    BOOST_TEST(with("") == "");
    BOOST_TEST(with("/var/lib/app/quarantine") == "");
    BOOST_TEST(with("state") == "config::quarantine_folder must be an absolute path");
    BOOST_TEST(with("/a\nb") == "config::quarantine_folder contains a control character");
}

// Of the first variable that is set; the last two have to be absolute paths.
BOOST_AUTO_TEST_CASE(the_folder_that_a_user_has)
{
    BOOST_TEST_REQUIRE(std::getenv("HOME") == nullptr, "tests have none");
    BOOST_TEST(config{}.quarantine_folder == "");
    auto const with = [](std::initializer_list<std::pair<char const*, char const*>> variables) {
        for (auto const& [name, value] : variables) ::setenv(name, value, 1);
        config const c;
        for (auto const& [name, value] : variables) ::unsetenv(name);
        return c.quarantine_folder;
    };
    BOOST_TEST(with({{"HOME", "/home/a"}}) == "/home/a/.local/state/redlock/quarantine");
    BOOST_TEST(with({{"HOME", "here"}}) == "");
    BOOST_TEST(with({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "/state"}}) == "/state/redlock/quarantine");
    BOOST_TEST(with({{"HOME", "/home/a"}, {"XDG_STATE_HOME", "state"}}) == "/home/a/.local/state/redlock/quarantine");
    BOOST_TEST(with({{"XDG_STATE_HOME", "/state"}, {"REDLOCK_STATE_DIR", "/var/lib/a"}}) == "/var/lib/a/quarantine");
    BOOST_TEST(with({{"HOME", "/home/a"}, {"REDLOCK_STATE_DIR", ""}}) == "/home/a/.local/state/redlock/quarantine");
    config relative;
    relative.nodes = {node_address{}};
    relative.quarantine_folder = with({{"REDLOCK_STATE_DIR", "state"}});
    BOOST_CHECK_THROW(relative.validate(), config_error);
}

BOOST_AUTO_TEST_CASE(max_node_queue)
{
    auto const with = [](std::size_t value) { return problem_with([=](config& c) { c.max_node_queue = value; }); };
    BOOST_TEST(with(1) == "");
    BOOST_TEST(with(1'000'000) == "");
    BOOST_TEST(with(0) == "config::max_node_queue is 0; it must be between 1 and 1000000");
    BOOST_TEST(with(1'000'001) == "config::max_node_queue is 1000001; it must be between 1 and 1000000");
}

BOOST_AUTO_TEST_CASE(by_default_the_log_is_a_line_on_stderr)
{
    std::FILE* const kept = std::tmpfile();
    BOOST_TEST_REQUIRE(kept != nullptr);
    std::fflush(stderr);
    int const before = ::dup(STDERR_FILENO);
    ::dup2(::fileno(kept), STDERR_FILENO);
    config{}.log("a sentence");
    ::dup2(before, STDERR_FILENO);
    ::close(before);
    std::rewind(kept);
    char line[64]{};
    BOOST_TEST(std::fread(line, 1, sizeof line - 1, kept) == 20u);
    BOOST_TEST(line == std::string{"redlock: a sentence\n"});
    std::fclose(kept);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock
