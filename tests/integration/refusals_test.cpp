// Servers that cannot be nodes, and addresses that lead to another server later: whatever a node was refused for, it is asked again.
#include "support/certificates.hpp"
#include "support/cluster.hpp"
#include "support/replication.hpp"
#include "support/strange_server.hpp"
#include "support/tcp_proxy.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {
namespace {

// The longest pause between two connections.
std::chrono::milliseconds longest_pause(std::vector<std::chrono::steady_clock::time_point> const& connects, std::size_t from)
{
    std::chrono::nanoseconds longest{};
    for (std::size_t i = from + 1; i < connects.size(); ++i)
        longest = std::max<std::chrono::nanoseconds>(longest, connects[i] - connects[i - 1]);
    return std::chrono::duration_cast<std::chrono::milliseconds>(longest);
}

// The third node of a client is reached through a proxy, and the first server behind that is refused.
class refused : public cluster {
public:
    explicit refused(std::uint16_t leads_to, std::string const& url_end = "", std::string const& user = "") : cluster{2}, way{{leads_to}}
    {
        address = node_address::from_url("redis://" + user + "127.0.0.1:" + std::to_string(way.ports()[0]) + url_end);
        usable_at_start = 2;
    }

    node_status third() const { return nodes.status().nodes[2]; }

    // Refused for this reason, and asked again so often, with a pause that gets as long as that; after `mend` it gets its vote.
    void expect_back(errc why, std::string_view hint, std::function<void()> const& mend, std::size_t attempts = 4,
                     std::chrono::milliseconds pause = 0ms)
    {
        config settings = quick_config();
        settings.connect_timeout = 300ms;
        settings.max_reconnect_delay = std::max(settings.max_reconnect_delay, 2 * pause);
        for (auto const& server : servers) settings.nodes.push_back(node_address::from_url(server.url()));
        settings.nodes.push_back(address);
        nodes = redlock::client{io.get_executor(), settings};
        run([&]() -> asio::awaitable<void> {
            if (at_start) at_start();
            bool const known = co_await eventually([&] { return third().last_error == why; });
            BOOST_TEST(known, third().last_error.message() << ": " << third().last_error_text);
            BOOST_TEST(third().last_error_text.find(hint) != std::string::npos, third().last_error_text);
            auto const before = way.connects(0).size();
            bool const again = co_await eventually([&] {
                auto const connects = way.connects(0);
                return connects.size() >= before + attempts && longest_pause(connects, before) >= pause;
            });
            BOOST_TEST(again, "it was asked " << way.connects(0).size() << " times");
            BOOST_TEST((third().state == node_state::down));
            mend();
            bool const back = co_await eventually(
                [&] { return third().state == node_state::usable && third().admission == admission_state::admitted; });
            BOOST_TEST(back, third().last_error_text << third().admission_text);

            lock const resource{nodes, "r", long_ttl};
            lease held = co_await resource.acquire();
            bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
            BOOST_TEST(everywhere);
        });
    }

    void lead_to(redis_server const& other)
    {
        admit(other);
        way.lead(0, other.port());
    }

    // Only when the first two nodes are connected: otherwise one of these could be taken for the second address.
    void lead_to_the_first_server_later()
    {
        at_start = [this] { way.lead(0, servers[0].port()); };
    }

    tcp_proxy way;
    node_address address;
    std::function<void()> at_start;
};

std::uint16_t port_of(std::string const& url) { return node_address::from_url(url).port; }

}  // namespace

BOOST_AUTO_TEST_SUITE(refusals)

BOOST_AUTO_TEST_CASE(a_second_address_of_one_server_that_leads_to_another_one_later)
{
    redis_server other;
    refused c{1};
    c.lead_to_the_first_server_later();
    c.expect_back(errc::node_duplicate, "each node needs a server of its own", [&] { c.lead_to(other); });
    BOOST_TEST(c.third().connects == 1u);
}

// The shortest pause is 10 ms; were it that each time, none would be drawn above 30, and a busy machine adds less than a second.
BOOST_AUTO_TEST_CASE(a_second_address_of_one_server_is_asked_with_pauses_that_grow)
{
    redis_server other;
    refused c{1};
    c.lead_to_the_first_server_later();
    c.expect_back(errc::node_duplicate, "", [&] { c.lead_to(other); }, 4, 1s);
}

BOOST_AUTO_TEST_CASE(a_wrong_password_that_becomes_the_right_one)
{
    redis_server server{redis_server_options{.requirepass = "old"}};
    admit(server);
    refused c{server.port(), "", "default:new@"};
    c.expect_back(
        errc::handshake_refused, "wrong user name or password", [&] { server.command({"CONFIG", "SET", "requirepass", "new"}); }, 4, 1s);
}

BOOST_AUTO_TEST_CASE(a_password_that_is_not_there_yet)
{
    redis_server server{redis_server_options{.requirepass = "secret"}};
    admit(server);
    temporary_folder folder;
    refused c{server.port()};
    c.address.username = "default";
    c.address.password_file = (folder.path() / "password").string();
    // Without it nobody connects.
    c.expect_back(errc::credentials_unavailable, "", [&] { std::ofstream{c.address.password_file} << "secret"; }, 0);
}

BOOST_AUTO_TEST_CASE(a_member_of_a_cluster_that_is_replaced)
{
    redis_server member{redis_server_options{.arguments = {"--cluster-enabled", "yes"}}};
    redis_server other;
    refused c{member.port()};
    c.expect_back(errc::node_unsuitable, "cluster-enabled no", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_sentinel_that_is_replaced)
{
    temporary_folder folder;
    auto const conf = (folder.path() / "sentinel.conf").string();
    redis_server sentinel{
        redis_server_options{.under = {"/bin/sh", "-c", "touch " + conf + R"(; exec "$0" )" + conf + R"( "$@" --sentinel)"}}};
    redis_server other;
    refused c{sentinel.port()};
    c.expect_back(errc::node_unsuitable, "Sentinel", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_replica_that_is_promoted)
{
    redis_server primary;
    redis_server server{redis_server_options{.arguments = {"--replicaof", "127.0.0.1 " + std::to_string(primary.port())}}};
    refused c{server.port()};
    c.expect_back(errc::node_unsuitable, "REPLICAOF NO ONE", [&] {
        server.command({"REPLICAOF", "NO", "ONE"});
        admit(server);
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_would_evict_locks_and_is_set_right)
{
    redis_server server{redis_server_options{.arguments = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}}};
    admit(server);
    refused c{server.port()};
    c.expect_back(errc::node_unsuitable, "allkeys-lru", [&] { server.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"}); });
}

BOOST_AUTO_TEST_CASE(a_user_who_gets_the_rights)
{
    redis_server server;
    server.command({"ACL", "SETUSER", "locker", "on", ">s3cr3t", "~*", "+@all", "-del"});
    admit(server);
    refused c{server.port(), "", "locker:s3cr3t@"};
    c.expect_back(errc::node_unsuitable, "+del", [&] { server.command({"ACL", "SETUSER", "locker", "+del"}); });
}

BOOST_AUTO_TEST_CASE(a_server_that_gets_its_replica)
{
    redis_server server{quick_to_copy({})};
    redis_server replica;
    refused c{server.port(), "?replicas=1"};
    c.expect_back(errc::not_durable, "the server has no replica", [&] {
        follow(replica, server);
        wait_for_replicas(server, 1);
        admit(server, 0, 1);
    });
}

BOOST_AUTO_TEST_CASE(a_database_that_the_next_server_has)
{
    redis_server small{redis_server_options{.arguments = {"--databases", "2"}}};
    redis_server other;
    admit(other, 7);
    refused c{small.port(), "/7"};
    c.expect_back(errc::server_error, "DB index", [&] { c.way.lead(0, other.port()); });
}

BOOST_AUTO_TEST_CASE(a_web_server_that_is_replaced)
{
    strange_server const web{manners::answers_http};
    redis_server other;
    refused c{port_of(web.url())};
    c.expect_back(errc::not_a_redis_server, "", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_server_that_closes_and_is_replaced)
{
    strange_server const rude{manners::closes_on_command};
    redis_server other;
    refused c{port_of(rude.url())};
    c.expect_back(errc::node_unreachable, "", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_server_that_never_answers_and_is_replaced)
{
    strange_server const mute{manners::never_answers};
    redis_server other;
    refused c{port_of(mute.url())};
    c.expect_back(errc::node_timeout, "connect_timeout", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_server_older_than_redis_6_that_is_replaced)
{
    strange_server const old{manners::repeats_commands};
    redis_server other;
    refused c{port_of(old.url())};
    c.expect_back(errc::handshake_refused, "older than Redis 6", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_that_is_replaced)
{
    certificate_authority ours;
    auto const own = ours.issue();
    redis_server const plain;
    redis_server secured{redis_server_options{.tls = {"--tls-cert-file", own.certificate, "--tls-key-file", own.key, "--tls-ca-cert-file",
                                                      ours.file(), "--tls-auth-clients", "no"}}};
    admit(secured);
    refused c{plain.port()};
    c.address.tls = tls_options{.ca_file = ours.file()};
    c.expect_back(errc::node_timeout, "redis://", [&] { c.way.lead(0, secured.tls_port()); });
}

BOOST_AUTO_TEST_CASE(a_certificate_that_is_not_believed_and_is_replaced)
{
    certificate_authority ours, theirs;
    auto const tls = [](certificate_authority const& clients, certified_key const& own) {
        return redis_server_options{.tls = {"--tls-cert-file", own.certificate, "--tls-key-file", own.key, "--tls-ca-cert-file",
                                            clients.file(), "--tls-auth-clients", "no"}};
    };
    redis_server const strangers{tls(theirs, theirs.issue())};
    redis_server secured{tls(ours, ours.issue())};
    admit(secured);
    refused c{strangers.tls_port()};
    c.address.tls = tls_options{.ca_file = ours.file()};
    c.expect_back(errc::tls_failed, "", [&] { c.way.lead(0, secured.tls_port()); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
