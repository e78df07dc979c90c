// From a URL to a usable node: passwords, users, databases, IPv6, and servers that are not what they should be.
#include "support/cluster.hpp"
#include "support/strange_server.hpp"

#include <algorithm>
#include <initializer_list>
#include <sstream>
#include <string>
#include <string_view>

namespace redlock::testing {
namespace {

// A client whose first node is not what the others are. Servers in `servers`: only the good ones.
struct odd_one_out : cluster {
    explicit odd_one_out(std::string const& url, std::size_t good = 2) : cluster{good}
    {
        config settings = quick_config();
        settings.connect_timeout = 300ms;
        settings.nodes.push_back(node_address::from_url(url));
        for (auto const& server : servers) settings.nodes.push_back(node_address::from_url(server.url()));
        nodes = redlock::client{io.get_executor(), settings};
        usable_at_start = good;
    }

    // The others are a majority; the report and the status say what is wrong with the first. All hints are in one status: a later connect may fail otherwise.
    void expect(errc why, std::initializer_list<std::string_view> hints)
    {
        run([&]() -> asio::awaitable<void> {
            bool const known = co_await eventually([&] { return nodes.status().nodes[0].last_error == why; });
            auto const odd = nodes.status().nodes[0];
            BOOST_TEST(known, odd.last_error.message() << ": " << odd.last_error_text);
            BOOST_TEST(odd.connects == 0u);
            for (auto const hint : hints) BOOST_TEST(odd.last_error_text.find(hint) != std::string::npos, odd.last_error_text);
            BOOST_TEST(odd.last_error == condition::node_failure);

            lock const resource{nodes, "r", impatient};
            attempt_report report;
            lease held = co_await resource.acquire(report);
            BOOST_TEST(held.nodes_held() == 2u);
            BOOST_TEST(report.nodes[0].vote != vote::granted);
            co_await held.extend();
            co_await held.release();
        });
    }
};

struct protected_node {
    explicit protected_node(std::string const& password) : server{redis_server_options{.requirepass = password}} {}

    std::string url_with(std::string const& credentials) const
    {
        return "redis://" + credentials + "127.0.0.1:" + std::to_string(server.port());
    }

    redis_server server;
};

bool mentions(client_status const& status, std::string_view text)
{
    return std::any_of(status.nodes.begin(), status.nodes.end(), [&](node_status const& n) {
        return (n.node + n.last_error_text + n.last_error.message()).find(text) != std::string::npos;
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(handshake)

BOOST_AUTO_TEST_CASE(a_missing_password)
{
    protected_node const node{"open sesame"};
    odd_one_out{node.url_with("")}.expect(errc::handshake_refused, {"the server wants a password"});
}

BOOST_AUTO_TEST_CASE(a_wrong_password_is_never_repeated)
{
    protected_node const node{"open sesame"};
    odd_one_out c{node.url_with("default:wrong-secret@")};
    c.expect(errc::handshake_refused, {"wrong user name or password"});
    BOOST_TEST(!mentions(c.nodes.status(), "wrong-secret"));
}

BOOST_AUTO_TEST_CASE(a_wrong_user_name)
{
    protected_node const node{"open sesame"};
    odd_one_out{node.url_with("nobody:open%20sesame@")}.expect(errc::handshake_refused, {"wrong user name or password"});
}

BOOST_AUTO_TEST_CASE(nodes_that_want_a_password_are_down_for_the_report_as_well)
{
    cluster c{3, quick_config(), {.requirepass = "open sesame"}};
    config settings = quick_config();
    for (auto const& server : c.servers) {
        auto address = node_address::from_url(server.url());
        address.password = "wrong-secret";
        settings.nodes.push_back(address);
    }
    redlock::client intruder{c.io.get_executor(), settings};
    c.run([&]() -> asio::awaitable<void> {
        c.start(intruder);
        bool const known = co_await eventually([&] { return intruder.status().nodes[2].last_error == errc::handshake_refused; });
        BOOST_TEST(known);
        lock const resource{intruder, "r", impatient};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        std::ostringstream text;
        text << report;
        BOOST_TEST(text.str().find("wrong-secret") == std::string::npos);
        BOOST_TEST(!mentions(intruder.status(), "wrong-secret"));
        intruder.cancel();
    });
}

BOOST_AUTO_TEST_CASE(the_right_password_with_every_special_character)
{
    cluster c{3, quick_config(), {.requirepass = "p@ss:w/rd?#%25 \"'\\+&=ü"}};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.valid());
        for (auto const& n : c.nodes.status().nodes) BOOST_TEST(n.node.find('@') == std::string::npos, n.node);
    });
}

BOOST_AUTO_TEST_CASE(a_user_of_the_access_control_list)
{
    redis_server server;
    server.command({"ACL", "SETUSER", "lock:er", "on", ">s3cr3t", "~lock:*", "~redlock:*", "+@all", "-@admin"});
    admit(server);
    auto const port = std::to_string(server.port());
    odd_one_out c{"redis://lock%3Aer:s3cr3t@127.0.0.1:" + port};
    c.usable_at_start = 3;
    c.run([&]() -> asio::awaitable<void> {
        lock const allowed{c.nodes, "lock:r", long_ttl};
        lease held = co_await allowed.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        BOOST_TEST(server.command({"CLIENT", "LIST"}).find("user=lock:er") != std::string::npos);

        // A key that this user may not touch: an error of the server, so a failure, and the others decide.
        c.servers[1].stop();
        // The third has time to answer, on a busy machine, but not longer than the connection may be silent.
        lock const forbidden{c.nodes, "other", {.ttl = 20s, .node_timeout = 2s}};
        attempt_report report;
        auto [ec, nothing] = co_await forbidden.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "server_error granted node_timeout");
        BOOST_TEST(report.nodes[0].detail.starts_with("NOPERM"), report.nodes[0].detail);
        c.servers[1].resume();
    });
}

BOOST_AUTO_TEST_CASE(a_web_server)
{
    strange_server const web{manners::answers_http};
    odd_one_out{web.url()}.expect(errc::not_a_redis_server, {});
}

BOOST_AUTO_TEST_CASE(a_server_that_never_answers)
{
    strange_server const mute{manners::never_answers};
    odd_one_out{mute.url()}.expect(errc::node_timeout, {"connect_timeout"});
}

BOOST_AUTO_TEST_CASE(a_server_that_closes_at_once)
{
    strange_server const closed{manners::closes_at_once};
    odd_one_out{closed.url()}.expect(errc::node_unreachable, {});
}

BOOST_AUTO_TEST_CASE(a_server_that_closes_when_it_is_spoken_to)
{
    strange_server const rude{manners::closes_on_command};
    odd_one_out{rude.url()}.expect(errc::node_unreachable, {});
}

BOOST_AUTO_TEST_CASE(nobody_listens)
{
    redis_server server;
    server.kill();
    odd_one_out{server.url()}.expect(errc::node_unreachable, {"refused"});
}

BOOST_AUTO_TEST_CASE(a_name_that_cannot_be_resolved) { odd_one_out{"redis://does-not-exist.invalid"}.expect(errc::node_unreachable, {}); }

BOOST_AUTO_TEST_CASE(a_database_that_the_server_does_not_have)
{
    redis_server server{redis_server_options{.arguments = {"--databases", "2"}}};
    odd_one_out{server.url() + "/7"}.expect(errc::server_error, {"DB index"});
}

BOOST_AUTO_TEST_CASE(a_member_of_a_cluster)
{
    redis_server server{redis_server_options{.arguments = {"--cluster-enabled", "yes"}}};
    odd_one_out{server.url()}.expect(errc::node_unsuitable, {"cluster-enabled no"});
}

BOOST_AUTO_TEST_CASE(a_replica)
{
    redis_server primary;
    redis_server server{redis_server_options{.arguments = {"--replicaof", "127.0.0.1 " + std::to_string(primary.port())}}};
    odd_one_out{server.url()}.expect(errc::node_unsuitable, {"REPLICAOF NO ONE"});
}

BOOST_AUTO_TEST_CASE(a_server_that_would_evict_locks)
{
    redis_server server{redis_server_options{.arguments = {"--maxmemory", "100mb", "--maxmemory-policy", "volatile-lru"}}};
    odd_one_out{server.url()}.expect(errc::node_unsuitable, {"maxmemory-policy noeviction", "volatile-lru"});
}

BOOST_AUTO_TEST_CASE(a_server_whose_memory_is_bounded_but_that_does_not_evict_is_a_node)
{
    cluster c{3, quick_config(), {.arguments = {"--maxmemory", "100mb", "--maxmemory-policy", "noeviction"}}};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.valid());
    });
}

BOOST_AUTO_TEST_CASE(a_policy_without_a_bound_evicts_nothing)
{
    cluster c{3, quick_config(), {.arguments = {"--maxmemory", "0", "--maxmemory-policy", "allkeys-lru"}}};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.valid());
    });
}

// The odd one is asked for first, but which of the two is the twin is decided by who comes first.
BOOST_AUTO_TEST_CASE(two_addresses_of_one_server_have_one_vote)
{
    redis_server server;
    admit(server);
    cluster c{1};
    config settings = quick_config();
    settings.nodes = {node_address::from_url(server.url()), node_address::from_url("redis://localhost:" + std::to_string(server.port())),
                      node_address::from_url(c.servers[0].url())};
    c.nodes = redlock::client{c.io.get_executor(), settings};
    c.usable_at_start = 2;
    c.run([&]() -> asio::awaitable<void> {
        auto const twins = [&] {
            auto const all = c.nodes.status().nodes;
            return std::count_if(all.begin(), all.end(), [](node_status const& n) { return n.last_error == errc::node_duplicate; });
        };
        bool const known = co_await eventually([&] { return twins() == 1; });
        BOOST_TEST(known);
        BOOST_TEST(mentions(c.nodes.status(), "each node needs a server of its own"));

        lock const resource{c.nodes, "r", impatient};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.nodes_held() == 2u);
        co_await held.release();
        c.servers[0].stop();
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);  // two addresses would have been one
        c.servers[0].resume();
    });
}

BOOST_AUTO_TEST_CASE(a_user_who_may_not_ask_for_info_is_believed)
{
    redis_server server;
    server.command({"ACL", "SETUSER", "locker", "on", ">s3cr3t", "~*", "+@all", "-info"});
    admit(server);
    odd_one_out c{"redis://locker:s3cr3t@127.0.0.1:" + std::to_string(server.port())};
    c.usable_at_start = 3;
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
    });
}

BOOST_AUTO_TEST_CASE(ipv6)
{
    cluster c{3, quick_config(), {.ipv6 = true}};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.valid());
        BOOST_TEST(c.nodes.status().nodes[0].node == "[::1]:" + std::to_string(c.servers[0].port()));
    });
}

BOOST_AUTO_TEST_CASE(a_database_and_a_client_name)
{
    redis_server server;
    admit(server, 3);
    odd_one_out c{server.url() + "/3"};
    c.usable_at_start = 3;
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        // A member that the majority did not need gets its record of the set after its first vote.
        bool const all_keys = co_await eventually(
            [&] { return server.command({"INFO", "keyspace"}).find("db3:keys=5") != std::string::npos; });
        BOOST_TEST(all_keys, server.command({"INFO", "keyspace"}));
        BOOST_TEST(server.command({"CLIENT", "LIST"}).find("name=redlock") != std::string::npos);
        co_await held.release();
        co_await c.nodes.drain();
        BOOST_TEST(server.command({"INFO", "keyspace"}).find("db3:keys=4") != std::string::npos,
                   "the counter and the records of the node and the set");
        BOOST_TEST(server.command({"INFO", "keyspace"}).find("db0") == std::string::npos);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
