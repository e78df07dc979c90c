// Groups that Sentinels watch: the client finds the primary, follows real failovers, and says what is wrong with a configuration.
#include "support/certificates.hpp"
#include "support/command_stats.hpp"
#include "support/disguise.hpp"
#include "support/replicated.hpp"
#include "support/scopes.hpp"
#include "support/skipped.hpp"
#include "support/watched_group.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::testing {
namespace {

// A quarantine that a test can wait for. A server that hangs is left because of the Sentinels, and not because it is silent.
config for_groups()
{
    config c = quick_config();
    c.max_ttl = 2s;
    c.token_retention = 60s;
    c.replication_timeout = 400ms;
    c.stall_timeout = 60s;
    c.bootstrap = true;
    return c;
}

constexpr lock_options in_a_group{.ttl = 2s, .node_timeout = 1s};
constexpr auto max_failover = 40s;  // on a machine that has much to do

// A client whose only node is a group.
struct of_a_group : cluster {
    explicit of_a_group(watched_group_options options = {}, std::string const& more = "")
        : cluster{1, for_groups(), {}, beginning::empty}, group{std::move(options)}
    {
        keys_may_stay = true;
        max_story_time = 240s;  // Sentinels that do not agree begin again after two failover-timeouts
        connect_to({group.url(more)});
    }

    void connect_to(std::vector<std::string> const& urls)
    {
        config settings = for_groups();
        for (auto const& url : urls) settings.nodes.push_back(node_address::from_url(url));
        nodes = redlock::client{io.get_executor(), settings};
    }

    node_status status() const { return nodes.status().nodes.at(0); }

    // Waits until the Sentinels name another primary, and returns its port.
    asio::awaitable<std::uint16_t> another_than(std::uint16_t old, std::size_t sentinel = 2)
    {
        bool const promoted = co_await eventually([&] { return group.primary_port(sentinel) != old; }, max_failover);
        BOOST_TEST_REQUIRE(promoted, group.sentinels[sentinel].log_tail());
        co_return group.primary_port(sentinel);
    }

    watched_group group;
};

// One Sentinel is enough where nothing fails.
watched_group_options simple(std::size_t replicas = 2) { return {.replicas = replicas, .sentinels = 1}; }

std::string url_of_sentinel(redis_server const& sentinel, std::string const& master)
{
    return "redis+sentinel://127.0.0.1:" + std::to_string(sentinel.port()) + '/' + master;
}

// Waits until the client says this about one of its nodes.
asio::awaitable<void> says(cluster& c, std::size_t node, std::string_view words)
{
    auto const text = [&] { return c.nodes.status().nodes.at(node).last_error_text; };
    bool const said = co_await eventually([&] { return text().find(words) != std::string::npos; });
    BOOST_TEST(said, text());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sentinels)

BOOST_AUTO_TEST_CASE(a_lock_survives_what_becomes_of_its_group)
{
    of_a_group c;
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        lease first = co_await resource.acquire();
        auto const token = first.token();
        auto const old = c.group.primary_port();
        BOOST_TEST(has(c.group.server(old), "r"));
        co_await first.release();

        // A scope is cancelled in time when the primary dies.
        witness w;
        auto body = [&](lease& held) -> asio::awaitable<void> {
            c.group.server(old).kill();
            co_await w.wait_for_the_end(held);
        };
        error_code const ec = co_await end_of_scope(resource, body);
        BOOST_TEST(ec == errc::lease_lost);
        BOOST_TEST_REQUIRE(w.cancelled.has_value());
        BOOST_TEST((*w.cancelled < *w.valid_until), "before the lease ends");

        auto const promoted = co_await c.another_than(old);
        lease second = co_await resource.acquire();
        BOOST_TEST(second.token() > token);
        BOOST_TEST(has(c.group.server(promoted), "r"));
        BOOST_TEST(c.status().primary == "127.0.0.1:" + std::to_string(c.group.primary_port(2)));
        BOOST_TEST(c.status().is_group);

        // It comes back empty, and as a primary until a Sentinel has told it what it is.
        c.group.server(old).restart();
        co_await second.release();
        lease third = co_await resource.acquire();
        BOOST_TEST(third.token() > token);
        BOOST_TEST(has(c.group.server(promoted), "r"));
        BOOST_TEST(calls_of(c.group.server(old), "script|load") == 0u, "no client shook hands with it");
        co_await third.release();
    });
}

// The connection stays, and nothing but the Sentinels tells that the server has been replaced. One of them is gone.
BOOST_AUTO_TEST_CASE(a_primary_that_hangs_is_left_when_the_sentinels_say_so)
{
    of_a_group c;
    c.group.sentinels[0].kill();
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        lease first = co_await resource.acquire();
        auto const token = first.token();
        auto const old = c.group.primary_port(1);
        c.group.server(old).stop();
        auto const promoted = co_await c.another_than(old);
        lease second = co_await resource.acquire();
        BOOST_TEST(!first.valid());
        BOOST_TEST(second.token() > token);
        BOOST_TEST(has(c.group.server(promoted), "r"));
        BOOST_TEST(c.status().connects == 2u);
        co_await second.release();
        c.group.server(old).resume();
    });
}

BOOST_AUTO_TEST_CASE(votes_wait_for_half_of_the_group)
{
    of_a_group c{simple()};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        lease first = co_await resource.acquire();
        co_await first.release();
        c.group.servers[1].stop();
        lease second = co_await resource.acquire();  // one of two replicas is enough
        co_await second.release();
        c.group.servers[2].stop();
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "not_durable");
        c.group.servers[1].resume();
        c.group.servers[2].resume();
    });
}

BOOST_AUTO_TEST_CASE(sentinels_with_a_password)
{
    of_a_group c{{.replicas = 1, .sentinels = 1, .sentinel_password = "s3cr3t"}, "?sentinel_password=s3cr3t"};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        lease only = co_await resource.acquire();
        co_await only.release();
    });
    c.connect_to({c.group.url("?sentinel_password=wrong")});
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> { co_await says(c, 0, "WRONGPASS"); });
}

// It has no more rights than it needs, which docs/replicas.md names.
BOOST_AUTO_TEST_CASE(sentinels_with_users)
{
    of_a_group c{simple(1)};
    auto const& sentinel = c.group.sentinels[0];
    sentinel.command({"ACL", "SETUSER", "watch", "on", ">s3cr3t", "&+switch-master", "-@all", "+hello", "+auth", "+ping", "+client|setname",
                      "+sentinel|get-master-addr-by-name", "+sentinel|master", "+sentinel|replicas", "+subscribe"});
    c.connect_to({c.group.url("?sentinel_username=watch&sentinel_password=s3cr3t")});
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        lease only = co_await resource.acquire();
        BOOST_TEST(mentions(sentinel.command({"CLIENT", "LIST"}), "user=watch"));
        bool const listens = co_await eventually([&] { return mentions(sentinel.command({"CLIENT", "LIST"}), "sub=1"); });
        BOOST_TEST(listens);
        co_await only.release();
    });
    c.connect_to({c.group.url("?sentinel_username=nobody&sentinel_password=s3cr3t")});
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> { co_await says(c, 0, "WRONGPASS"); });
}

// The servers themselves are spoken to without TLS.
BOOST_AUTO_TEST_CASE(sentinels_with_tls)
{
    certificate_authority ours;
    certificate_authority theirs;
    auto const own = ours.issue();
    of_a_group c{{.replicas = 1, .sentinels = 1, .sentinel_tls = tls_arguments(ours, own)}};
    c.connect_to({c.group.url_with_tls("?sentinel_tls=yes&sentinel_ca_file=" + ours.file())});
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        lease only = co_await resource.acquire();
        co_await only.release();
    });
    c.connect_to({c.group.url_with_tls("?sentinel_tls=yes&sentinel_ca_file=" + theirs.file())});
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> { co_await says(c, 0, "certificate"); });
    c.connect_to({c.group.url_with_tls("")});
    c.run([&]() -> asio::awaitable<void> { co_await says(c, 0, "no Sentinel of \"mymaster\" answered"); });
}

// It calls a replica the primary. No other Sentinel contradicts it but one, which is named behind it.
BOOST_AUTO_TEST_CASE(a_sentinel_that_lies_costs_a_question)
{
    of_a_group c;
    auto const& liar = c.group.sentinels[1];
    c.group.sentinels[0].stop();
    liar.command({"SENTINEL", "REMOVE", "mymaster"});
    liar.command({"SENTINEL", "MONITOR", "mymaster", "127.0.0.1", std::to_string(c.group.servers[1].port()), "9"});
    auto const primary = c.group.primary_port(2);
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        for (int i = 0; i < 3; ++i) {
            lease held = co_await resource.acquire();
            BOOST_TEST(has(c.group.server(primary), "r"));
            co_await held.release();
        }
    });
    c.group.sentinels[0].resume();
}

// It says epochs that the others reach after many failovers, and never names the first primary. The others are believed all the same: at first, after a
// failover of which they send messages, and when the first primary is the primary again.
BOOST_AUTO_TEST_CASE(a_sentinel_that_lies_about_the_epoch_is_one_of_three)
{
    of_a_group c{{.replicas = 1}};
    auto const first = c.group.primary_port(1);
    auto const second = c.group.servers[c.group.servers[0].port() == first ? 1 : 0].port();
    std::string const epoch = "config-epoch\r\n$1\r\n";
    disguise const address{c.group.sentinels[0].port(), std::to_string(first), std::to_string(second)};
    disguise const begin{address.port(), epoch + '0', epoch + '9'};
    disguise const after_one{begin.port(), epoch + '1', epoch + '9'};
    disguise const liar{after_one.port(), epoch + '2', epoch + '9'};
    auto url = c.group.url();
    auto const honest = ':' + std::to_string(c.group.sentinels[0].port());
    url.replace(url.find(honest), honest.size(), ':' + std::to_string(liar.port()));
    c.connect_to({url});
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        lease held = co_await resource.acquire();
        BOOST_TEST(has(c.group.server(first), "r"));
        auto primary = first;
        for (int failovers = 0; failovers < 2; ++failovers) {
            auto const token = held.token();
            auto& gone = c.group.server(primary);
            gone.kill();
            primary = co_await c.another_than(primary);
            gone.restart();
            bool const complete = co_await eventually([&] { return c.group.is_complete(); }, max_failover);
            BOOST_TEST(complete);
            // On a machine with much to do the Sentinels may have made it a replica before it was killed, and the lease is held still.
            [[maybe_unused]] auto const ended = co_await held.release(asio::as_tuple);
            held = co_await resource.acquire();
            BOOST_TEST(held.token() > token);
            BOOST_TEST(has(c.group.server(primary), "r"));
        }
        BOOST_TEST(primary == first);
        co_await held.release();
    });
}

// It has not heard of the failover, and for a while it is the only one that answers.
BOOST_AUTO_TEST_CASE(a_sentinel_that_is_stale_costs_time_only)
{
    of_a_group c;
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        lease first = co_await resource.acquire();
        auto const token = first.token();
        auto const old = c.group.primary_port(1);
        c.group.sentinels[0].stop();
        c.group.server(old).kill();
        auto const promoted = co_await c.another_than(old);
        // Only the stale one answers now. It names the server that is gone.
        c.group.sentinels[1].stop();
        c.group.sentinels[2].stop();
        c.group.sentinels[0].resume();
        c.group.server(old).restart();
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec);
        BOOST_TEST(!has(c.group.server(old), "r"));
        c.group.sentinels[1].resume();
        c.group.sentinels[2].resume();
        lease second = co_await resource.acquire();
        BOOST_TEST(second.token() > token);
        BOOST_TEST(has(c.group.server(promoted), "r"));
        co_await second.release();
    });
}

#ifdef REDLOCK_VALKEY_SERVER
BOOST_AUTO_TEST_CASE(a_group_of_valkey_servers)
{
    of_a_group c{{.server = {.binary = REDLOCK_VALKEY_SERVER}}};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", in_a_group};
        lease first = co_await resource.acquire();
        auto const token = first.token();
        auto const old = c.group.primary_port();
        c.group.server(old).kill();
        auto const promoted = co_await c.another_than(old);
        lease second = co_await resource.acquire();
        BOOST_TEST(second.token() > token);
        BOOST_TEST(has(c.group.server(promoted), "r"));
        co_await second.release();
    });
}
#else
BOOST_AUTO_TEST_CASE(a_group_of_valkey_servers) { skipped("there is no valkey-server here (on Debian: cmake/setup.sh valkey)"); }
#endif

BOOST_AUTO_TEST_CASE(mistakes_are_told_with_what_to_write)
{
    of_a_group c{simple()};
    auto const& sentinel = c.group.sentinels[0];
    struct mistake {
        std::string url;
        std::string words;
    };
    std::vector<mistake> const all{
        {url_of_sentinel(sentinel, "nobody"), "no Sentinel knows a master \"nobody\""},
        {url_of_sentinel(c.group.servers[0], "mymaster"), "is no Sentinel but another server; give the addresses of Sentinels"},
        {"redis://127.0.0.1:" + std::to_string(sentinel.port()),
         "this is a Sentinel, which keeps no keys; use the address of an independent server, or "
         "redis+sentinel://host:port/MASTER"},
        {c.group.url("?replicas=3"), "votes are to wait for 3 replicas, and the group \"mymaster\" has 2"},
    };
    for (auto const& [url, words] : all) {
        c.connect_to({url});
        c.usable_at_start = 0;
        c.run([&]() -> asio::awaitable<void> { co_await says(c, 0, words); });
    }
    // The group that is a node, and a server of it that is another one.
    c.connect_to({c.group.url(), c.group.servers[0].url()});
    c.run([&]() -> asio::awaitable<void> {
        auto const said = [&] {
            std::string text;
            for (auto const& n : c.nodes.status().nodes) text += n.last_error_text;
            return text;
        };
        bool const refused = co_await eventually([&] { return mentions(said(), "this is the same server as"); });
        BOOST_TEST(refused, said());
    });
}

BOOST_AUTO_TEST_CASE(a_group_without_replicas_is_refused)
{
    of_a_group c{simple(0)};
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> { co_await says(c, 0, "is a primary without replicas"); });
}

BOOST_AUTO_TEST_CASE(sentinels_of_two_groups_are_refused)
{
    of_a_group c{simple(1)};
    watched_group const stranger{simple(1)};
    auto const other = ",127.0.0.1:" + std::to_string(stranger.sentinels[0].port()) + "/mymaster";
    auto url = c.group.url();
    url.replace(url.find("/mymaster"), std::string{"/mymaster"}.size(), other);
    c.connect_to({url});
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> { co_await says(c, 0, "watch different masters of the name \"mymaster\""); });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
