// Servers that cannot be nodes, and addresses that lead to another server later: whatever a node was refused for, it is asked again.
#include "support/certificates.hpp"
#include "support/replication.hpp"
#include "support/resp_client.hpp"
#include "support/strange_server.hpp"
#include "support/tcp_proxy.hpp"
#include "support/two_nodes_and.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <functional>
#include <memory>
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

// A port without a server: only root may open it.
constexpr std::uint16_t nobody_listens = 1;

// A client of three nodes. The third one is reached through a proxy, which leads to a server that the client refuses, until the test mends that.
class client_with_a_refused_node : public two_nodes_and {
public:
    explicit client_with_a_refused_node(std::uint16_t leads_to, std::string const& url_end = "", std::string const& user = "")
        : two_nodes_and{2}, proxy{{leads_to}}
    {
        third_address = node_address::from_url("redis://" + user + "127.0.0.1:" + std::to_string(proxy.ports()[0]) + url_end);
    }

    struct repetition {
        std::size_t attempts{4};  // so many connections after the first refusal
        std::chrono::milliseconds longest_pause{0};  // the longest of the pauses between them is no shorter
    };

    // The third node is refused with this error, and with `hint` in its text, and is asked again. Once `mend` has been called it has a vote.
    void expect_back(errc why, std::string_view hint, std::function<void()> const& mend, repetition expected)
    {
        config settings = quick_config();
        settings.connect_timeout = 300ms;
        settings.max_reconnect_delay = std::max(settings.max_reconnect_delay, 2 * expected.longest_pause);
        make_client(third_address, settings);
        run([&]() -> asio::awaitable<void> {
            if (at_start) at_start();
            co_await see_refusal(why, hint);
            co_await see_repeated_attempts(expected);
            BOOST_TEST((third().state == node_state::down));
            mend();
            co_await see_vote();
        });
    }
    void expect_back(errc why, std::string_view hint, std::function<void()> const& mend) { expect_back(why, hint, mend, {}); }

    void lead_to(redis_server const& other)
    {
        admit(other);
        proxy.redirect(0, other.port());
    }

    // The proxy leads there only once the first two nodes are connected. If it did before, the client could connect to it first, and refuse the first node
    // as the second address of one server.
    void lead_to_the_first_server_later()
    {
        at_start = [this] { proxy.redirect(0, servers[0].port()); };
    }

    tcp_proxy proxy;
    node_address third_address;
    std::function<void()> at_start;  // called when the first two nodes are connected

private:
    asio::awaitable<void> see_refusal(errc why, std::string_view hint)
    {
        bool const known = co_await eventually([&] { return third().last_error == why; });
        BOOST_TEST(known, third().last_error.message() << ": " << third().last_error_text);
        BOOST_TEST(third().last_error_text.find(hint) != std::string::npos, third().last_error_text);
    }

    asio::awaitable<void> see_repeated_attempts(repetition expected)
    {
        auto const before = proxy.connects(0).size();
        bool const was_asked_again = co_await eventually([&] {
            auto const connects = proxy.connects(0);
            return connects.size() >= before + expected.attempts && longest_pause(connects, before) >= expected.longest_pause;
        });
        BOOST_TEST(was_asked_again, "it was asked " << proxy.connects(0).size() << " times");
    }

    asio::awaitable<void> see_vote()
    {
        bool const back = co_await eventually(
            [&] { return third().state == node_state::usable && third().admission == admission_state::admitted; });
        BOOST_TEST(back, third().last_error_text << third().admission_text);
        lock const resource{nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(refusals)

BOOST_AUTO_TEST_CASE(a_second_address_of_one_server_that_leads_to_another_one_later)
{
    redis_server other;
    client_with_a_refused_node c{nobody_listens};
    c.lead_to_the_first_server_later();
    c.expect_back(errc::node_duplicate, "each node needs a server of its own", [&] { c.lead_to(other); });
    BOOST_TEST(c.third().connects == 1u);
}

// The open connection is the wrong one, and works. New connections through the proxy lead elsewhere.
BOOST_AUTO_TEST_CASE(an_address_that_led_to_the_server_of_another_node_when_it_was_connected)
{
    redis_server other;
    admit(other);
    cluster c{2};
    tcp_proxy way{{c.servers[0].port(), nobody_listens}};
    config settings = quick_config();
    for (auto const port : {way.ports()[0], c.servers[1].port(), way.ports()[1]})
        settings.nodes.push_back(node_address::from_url("redis://127.0.0.1:" + std::to_string(port)));
    c.nodes = redlock::client{c.io.get_executor(), settings};
    c.usable_at_start = 2;
    c.run([&]() -> asio::awaitable<void> {
        way.redirect(0, other.port());
        way.redirect(1, c.servers[0].port());
        bool const all = co_await eventually([&] {
            auto const nodes = c.nodes.status().nodes;
            return std::count_if(nodes.begin(), nodes.end(), [](auto const& n) { return n.state == node_state::usable; }) == 3;
        });
        auto const status = c.nodes.status().nodes;
        BOOST_TEST(all, status[2].last_error_text);
        BOOST_TEST(status[0].connects == 2u);
        BOOST_TEST(status[0].last_error_text == "new connections to this address lead to another server");
        lock const resource{c.nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        BOOST_TEST(other.command({"EXISTS", "r"}) == "1");
    });
}

// A pause is up to three times as long as the one before. If the pauses did not grow from the shortest, 10 ms, none would be longer than 30 ms. A busy
// machine adds less than a second.
BOOST_AUTO_TEST_CASE(a_second_address_of_one_server_is_asked_with_pauses_that_grow)
{
    redis_server other;
    client_with_a_refused_node c{nobody_listens};
    c.lead_to_the_first_server_later();
    c.expect_back(errc::node_duplicate, "", [&] { c.lead_to(other); }, {.attempts = 4, .longest_pause = 1s});
}

BOOST_AUTO_TEST_CASE(a_wrong_password_that_becomes_the_right_one)
{
    redis_server server{redis_server_options{.requirepass = "old"}};
    admit(server);
    client_with_a_refused_node c{server.port(), "", "default:new@"};
    c.expect_back(errc::handshake_refused, "wrong user name or password", [&] { server.command({"CONFIG", "SET", "requirepass", "new"}); },
                  {.attempts = 4, .longest_pause = 1s});
}

// It says so before it has read anything, and closes.
BOOST_AUTO_TEST_CASE(a_server_with_too_many_clients_that_has_less)
{
    redis_server server;
    admit(server);
    auto taken = std::make_unique<resp_client>(loopback::ipv4, server.port(), 60s);
    BOOST_TEST(taken->ask({"CONFIG", "SET", "maxclients", "1"}).text == "OK");
    client_with_a_refused_node c{server.port()};
    c.expect_back(errc::server_error, "the server takes no more connections (ERR max number of clients reached)", [&] {
        taken->ask({"CONFIG", "SET", "maxclients", "100"});
        taken.reset();
    });
}

BOOST_AUTO_TEST_CASE(a_password_that_is_not_there_yet)
{
    redis_server server{redis_server_options{.requirepass = "secret"}};
    admit(server);
    temporary_folder folder;
    client_with_a_refused_node c{server.port()};
    c.third_address.username = "default";
    c.third_address.password_file = (folder.path() / "password").string();
    // The client does not even connect before it has the password, so there are no connections to count.
    c.expect_back(errc::credentials_unavailable, "", [&] { std::ofstream{c.third_address.password_file} << "secret"; }, {.attempts = 0});
}

BOOST_AUTO_TEST_CASE(a_member_of_a_cluster_that_is_replaced)
{
    redis_server member{redis_server_options{.arguments = {"--cluster-enabled", "yes"}}};
    redis_server other;
    client_with_a_refused_node c{member.port()};
    c.expect_back(errc::node_unsuitable, "cluster-enabled no", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_sentinel_that_is_replaced)
{
    redis_server sentinel{redis_server_options{.sentinel = true}};
    redis_server other;
    client_with_a_refused_node c{sentinel.port()};
    c.expect_back(errc::node_unsuitable, "Sentinel", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_replica_that_is_promoted)
{
    redis_server primary;
    redis_server server{redis_server_options{.arguments = {"--replicaof", "127.0.0.1 " + std::to_string(primary.port())}}};
    client_with_a_refused_node c{server.port()};
    c.expect_back(errc::node_unsuitable, "REPLICAOF NO ONE", [&] {
        server.command({"REPLICAOF", "NO", "ONE"});
        admit(server);
    });
}

BOOST_AUTO_TEST_CASE(a_server_that_would_evict_locks_and_is_set_right)
{
    redis_server server{redis_server_options{.arguments = {"--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru"}}};
    admit(server);
    client_with_a_refused_node c{server.port()};
    c.expect_back(errc::node_unsuitable, "allkeys-lru", [&] { server.command({"CONFIG", "SET", "maxmemory-policy", "noeviction"}); });
}

BOOST_AUTO_TEST_CASE(a_user_who_gets_the_rights)
{
    redis_server server;
    server.command({"ACL", "SETUSER", "locker", "on", ">s3cr3t", "~*", "+@all", "-del"});
    admit(server);
    client_with_a_refused_node c{server.port(), "", "locker:s3cr3t@"};
    c.expect_back(errc::node_unsuitable, "+del", [&] { server.command({"ACL", "SETUSER", "locker", "+del"}); });
}

BOOST_AUTO_TEST_CASE(a_server_that_gets_its_replica)
{
    redis_server server{quick_to_copy({})};
    redis_server replica;
    client_with_a_refused_node c{server.port(), "?replicas=1"};
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
    client_with_a_refused_node c{small.port(), "/7"};
    c.expect_back(errc::server_error, "DB index", [&] { c.proxy.redirect(0, other.port()); });
}

BOOST_AUTO_TEST_CASE(a_web_server_that_is_replaced)
{
    strange_server const web{manners::answers_http};
    redis_server other;
    client_with_a_refused_node c{web.port()};
    c.expect_back(errc::not_a_redis_server, "it is a web server (HTTP/1.1 400 Bad Request)", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_server_that_closes_and_is_replaced)
{
    strange_server const rude{manners::closes_on_command};
    redis_server other;
    client_with_a_refused_node c{rude.port()};
    c.expect_back(errc::node_unreachable, "", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_server_that_never_answers_and_is_replaced)
{
    strange_server const mute{manners::never_answers};
    redis_server other;
    client_with_a_refused_node c{mute.port()};
    c.expect_back(errc::node_timeout, "connect_timeout", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_server_older_than_redis_6_that_is_replaced)
{
    strange_server const old{manners::repeats_commands};
    redis_server other;
    client_with_a_refused_node c{old.port()};
    c.expect_back(errc::handshake_refused, "older than Redis 6", [&] { c.lead_to(other); });
}

BOOST_AUTO_TEST_CASE(a_server_without_tls_that_is_replaced)
{
    certificate_authority ours;
    auto const own = ours.issue();
    redis_server const plain;
    redis_server secured{redis_server_options{.tls = tls_arguments(ours, own)}};
    admit(secured);
    client_with_a_refused_node c{plain.port()};
    c.third_address.tls = tls_options{.ca_file = ours.file()};
    c.expect_back(errc::node_timeout, "redis://", [&] { c.proxy.redirect(0, secured.tls_port()); });
}

BOOST_AUTO_TEST_CASE(a_certificate_that_is_not_believed_and_is_replaced)
{
    certificate_authority ours, theirs;
    redis_server const strangers{redis_server_options{.tls = tls_arguments(theirs, theirs.issue())}};
    redis_server secured{redis_server_options{.tls = tls_arguments(ours, ours.issue())}};
    admit(secured);
    client_with_a_refused_node c{strangers.tls_port()};
    c.third_address.tls = tls_options{.ca_file = ours.file()};
    c.expect_back(errc::tls_failed, "", [&] { c.proxy.redirect(0, secured.tls_port()); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
