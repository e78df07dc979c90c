// Connections that break, servers that come back, and a server that does not keep up.
#include "support/cluster.hpp"
#include "support/command_stats.hpp"
#include "support/replication.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {
namespace {

constexpr lock_options steady{.ttl = 10s, .extend_interval = 200ms};

config with_stall_timeout(std::chrono::milliseconds d)
{
    config c = quick_config();
    c.stall_timeout = d;
    return c;
}

config with_queue(std::size_t max)
{
    config c = quick_config();
    c.max_node_queue = max;
    c.stall_timeout = 60s;
    return c;
}

struct impatient_nodes : cluster {
    impatient_nodes() : cluster{3, with_stall_timeout(400ms)} {}
};

struct remembering_nodes : cluster {
    remembering_nodes() : cluster{3, quick_config(), {.appendonly = true}} {}
};

config with_reconnect_delays(std::chrono::milliseconds min, std::chrono::milliseconds max)
{
    config c = quick_config();
    c.min_reconnect_delay = min;
    c.max_reconnect_delay = max;
    return c;
}

struct eager_nodes : cluster {
    eager_nodes() : cluster{3, with_reconnect_delays(1ms, 20s)} {}
};

struct short_queues : cluster {
    short_queues() : cluster{3, with_queue(8)} {}
};

// Each handshake, which is one CLIENT TRACKING, asks whether it may delete.
std::uint64_t releases_with_a_key(redis_server const& server) { return calls_of(server, "del") - calls_of(server, "client|tracking"); }

}  // namespace

BOOST_AUTO_TEST_SUITE(reconnect)

BOOST_FIXTURE_TEST_CASE(a_server_that_is_restarted_votes_again, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const before{nodes, "before", steady};
        lease survivor = co_await before.acquire();
        bool const everywhere = co_await eventually([&] { return survivor.nodes_held() == 3; });
        BOOST_TEST(everywhere);

        servers[1].kill();
        bool const down = co_await eventually([&] { return nodes.status().nodes[1].state == node_state::down; });
        BOOST_TEST(down);
        BOOST_TEST(nodes.status().nodes[1].last_error == errc::node_unreachable);
        BOOST_TEST(survivor.valid());
        servers[1].restart();
        admit(servers[1]);
        bool const back = co_await eventually([&] { return nodes.status().nodes[1].state == node_state::usable; });
        BOOST_TEST(back);
        BOOST_TEST(nodes.status().nodes[1].connects == 2u);

        // What the server has forgotten is set there again.
        bool const recreated = co_await eventually([&] { return servers_with("before") == 3; });
        BOOST_TEST(recreated);
        BOOST_TEST(survivor.valid());
        BOOST_TEST(survivor.nodes_held() == 3u);
        lock const after{nodes, "after", long_ttl};
        lease fresh = co_await after.acquire();
        bool const all = co_await eventually([&] { return fresh.nodes_held() == 3; });
        BOOST_TEST(all);
    });
}

// They become long while nobody is there, and are short again after a connection that worked.
BOOST_FIXTURE_TEST_CASE(pauses_between_connections_begin_anew_with_a_success, eager_nodes)
{
    using std::chrono::steady_clock;
    run([&]() -> asio::awaitable<void> {
        servers[2].kill();
        {
            asio::ip::tcp::endpoint const address{asio::ip::address_v4::loopback(), servers[2].port()};
            asio::ip::tcp::acceptor door{co_await asio::this_coro::executor, address};
            auto last = steady_clock::now();
            for (steady_clock::duration pause{}; pause < 1s;) {
                auto accepting = door.async_accept(asio::use_awaitable);
                auto const turned_away = co_await std::move(accepting);
                auto const now = steady_clock::now();
                pause = now - std::exchange(last, now);
            }
        }
        servers[2].restart();
        admit(servers[2]);
        bool const usable_again = co_await eventually([&] { return usable() == 3; });
        BOOST_TEST_REQUIRE(usable_again);
        auto const begin = steady_clock::now();
        for (int i = 0; i < 3; ++i) {
            auto const connects = nodes.status().nodes[2].connects;
            servers[2].command({"CLIENT", "KILL", "TYPE", "normal"});
            bool const back = co_await eventually([&] { return nodes.status().nodes[2].connects == connects + 1; });
            BOOST_TEST(back);
        }
        BOOST_TEST((steady_clock::now() - begin < 1500ms));
    });
}

BOOST_FIXTURE_TEST_CASE(a_server_that_is_down_at_the_start_joins_later, three_nodes)
{
    servers[0].kill();
    usable_at_start = 2;
    run([&]() -> asio::awaitable<void> {
        servers[0].restart();
        admit(servers[0]);
        bool const all = co_await eventually([&] { return usable() == 3; });
        BOOST_TEST(all);
    });
}

BOOST_FIXTURE_TEST_CASE(a_lease_survives_restarts_of_servers_that_remember, remembering_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", steady};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        for (std::size_t i = 0; i < 3; ++i) {
            servers[i].restart();
            admit(servers[i]);
            bool const back = co_await eventually([&] { return nodes.status().nodes[i].connects == 2; });
            BOOST_TEST_REQUIRE(back);
            BOOST_TEST(held.valid());
        }
        BOOST_TEST(held.nodes_held() == 3u);
        BOOST_TEST(servers_with("r") == 3u);
    });
}

BOOST_FIXTURE_TEST_CASE(a_release_is_owed_to_a_server_that_is_down, remembering_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        servers[2].kill();
        co_await held.release();
        co_await nodes.drain();  // every node that can be reached
        BOOST_TEST(servers_with("r") == 0u);

        servers[2].restart();
        admit(servers[2]);  // with the key, from its log
        bool const gone = co_await eventually([&] { return servers[2].command({"EXISTS", "r"}) == "0"; });
        BOOST_TEST(gone, "it would expire in 20 s");
        BOOST_TEST(releases_with_a_key(servers[2]) == 1u, "it was not there: " << servers[2].command({"INFO", "commandstats"}));
    });
}

BOOST_FIXTURE_TEST_CASE(a_connection_without_answers_is_given_up, impatient_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", steady};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        stopwatch watch;
        servers[1].stop();
        bool const given_up = co_await eventually([&] { return nodes.status().nodes[1].state == node_state::down; });
        BOOST_TEST(given_up);
        BOOST_TEST(watch.ms() < 3'000);
        BOOST_TEST(nodes.status().nodes[1].last_error == errc::node_timeout);
        BOOST_TEST(nodes.status().nodes[1].last_error_text.find("stall_timeout") != std::string::npos);
        servers[1].resume();
        bool const back = co_await eventually([&] { return nodes.status().nodes[1].state == node_state::usable; });
        BOOST_TEST(back);
        bool const all = co_await eventually([&] { return held.nodes_held() == 3 && held.valid(9s); });
        BOOST_TEST(all);
    });
}

// The request to acquire is in the stopped server's socket when the connection is given up: it will be granted one day, and
// nobody will hear of it.
BOOST_FIXTURE_TEST_CASE(a_grant_on_a_connection_that_was_given_up_is_undone, impatient_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[1].stop();
        lock const resource{nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        bool const given_up = co_await eventually([&] { return nodes.status().nodes[1].state == node_state::down; });
        BOOST_TEST(given_up);
        co_await held.release();  // and it is owed to the node that is down
        co_await nodes.drain();
        servers[1].resume();
        bool const back = co_await eventually([&] { return usable() == 3; });
        BOOST_TEST(back);
        bool const deleted = co_await eventually([&] { return releases_with_a_key(servers[1]) == 1; });
        BOOST_TEST(deleted, "granted, and then given back");
        BOOST_TEST(servers_with("r") == 0u);
    });
}

// Nothing was asked, so nothing can be missing: only a ping of the client's own finds out.
BOOST_FIXTURE_TEST_CASE(an_idle_connection_is_looked_after_as_well, impatient_nodes)
{
    run([&]() -> asio::awaitable<void> {
        co_await pause(1500ms);
        for (auto const& n : nodes.status().nodes) BOOST_TEST(n.connects == 1u, "a quiet connection is no dead one");
        servers[0].stop();
        bool const given_up = co_await eventually([&] { return nodes.status().nodes[0].state == node_state::down; });
        BOOST_TEST(given_up);
        servers[0].resume();
        bool const back = co_await eventually([&] { return usable() == 3; });
        BOOST_TEST(back);
    });
}

// The servers cut all connections again and again. Whatever was half done is finished later: no key stays anywhere.
BOOST_FIXTURE_TEST_CASE(connections_that_break_all_the_time, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        std::size_t acquired = 0;
        for (int i = 0; i < 60; ++i) {
            lock const resource{nodes,
                                "r" + std::to_string(i % 5),
                                {.ttl = 20s, .node_timeout = 200ms, .acquire_timeout = 2s, .max_retry_delay = 50ms}};
            auto [ec, held] = co_await resource.acquire(asio::as_tuple);
            acquired += !ec;
            for (auto const& server : servers)
                if (i % 3 != 0) server.command({"CLIENT", "KILL", "TYPE", "normal"});
        }
        BOOST_TEST(acquired > 30u);
        for (auto const& server : servers) {
            bool const empty = co_await eventually([&] { return lock_keys(server).empty(); });
            BOOST_TEST(empty, "keys stayed: " << server.command({"KEYS", "*"}));
        }
    });
}

BOOST_FIXTURE_TEST_CASE(a_server_that_does_not_keep_up_slows_nobody_down, short_queues)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].stop();
        bool queue_was_full = false;
        long long slowest_ms = 0;
        std::vector<lease> leases;  // a request waits for the server while its lease is held
        for (int i = 0; i < 150; ++i) {
            lock const resource{nodes, "r" + std::to_string(i), {.ttl = 60s, .node_timeout = 10s}};
            attempt_report report;
            stopwatch watch;
            lease got = co_await resource.acquire(report);
            leases.push_back(std::move(got));
            slowest_ms = std::max(slowest_ms, watch.ms());
            queue_was_full |= report.nodes[0].error == errc::node_queue_full;
        }
        leases.clear();
        BOOST_TEST(queue_was_full);
        BOOST_TEST(slowest_ms < 2'000);
        servers[0].resume();
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(lock_keys(server).empty());
        lock const resource{nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        bool const all = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(all, "it keeps up again");
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
