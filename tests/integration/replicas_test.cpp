// Votes that count only when replicas have them: what is promised, what is said when it cannot be kept, and that nothing stays.
#include "support/alternating_proxy.hpp"
#include "support/command_stats.hpp"
#include "support/replicated.hpp"
#include "support/tcp_proxy.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <string>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(replicas)

BOOST_AUTO_TEST_CASE(a_lease_stands_on_all_replicas_at_once)
{
    for (lock_options const& options : {plain, with_tokens}) {
        replicated c{"?replicas=2"};
        c.run([&]() -> asio::awaitable<void> {
            if (options.fencing) {
                lock const first{c.nodes, "first", options};
                lease held = co_await first.acquire();
                co_await held.release();
            }
            bool const founded = !options.fencing ||
                                 co_await eventually([&] { return mentions(c.primary().command({"GET", "redlock:set"}), " complete "); });
            BOOST_TEST_REQUIRE(founded);  // which also waits for replicas
            auto const before = calls_of(c.primary(), "wait");
            lock const resource{c.nodes, "r", options};
            attempt_report report;
            lease held = co_await resource.acquire(report);
            for (auto const& replica : c.replicas) BOOST_TEST(has(replica, "r"));
            BOOST_TEST(report.attempts == 1u);
            BOOST_TEST(calls_of(c.primary(), "wait") == before + 1);
            co_await held.extend();
            BOOST_TEST(calls_of(c.primary(), "wait") == before + 2);
            co_await held.release();
            BOOST_TEST(calls_of(c.primary(), "wait") == before + 2, "a release need not be durable");
        });
    }
}

BOOST_AUTO_TEST_CASE(several_names_and_their_counters_as_well)
{
    replicated c{"?replicas=2"};
    c.run([&]() -> asio::awaitable<void> {
        lock const both{c.nodes, {"a", "b"}, with_tokens};
        lease held = co_await both.acquire();
        for (auto const& replica : c.replicas)
            for (auto const* key : {"a", "b", "a:fence", "b:fence"}) BOOST_TEST(has(replica, key), key);
        co_await held.release();
    });
}

BOOST_AUTO_TEST_CASE(a_replica_that_does_not_answer_means_no_vote)
{
    replicated c{"?replicas=2"};
    c.run([&]() -> asio::awaitable<void> {
        c.replicas[1].stop();
        lock const resource{c.nodes, "r", plain};
        attempt_report report;
        stopwatch watch;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(!nothing);
        BOOST_TEST(watch.ms() < 2'000, "bounded by replication_timeout");
        BOOST_TEST(verdicts(report) == "not_durable");
        BOOST_TEST(report.nodes[0].detail == "1 of 2 replicas acknowledged within 200 ms");
        co_await c.nodes.drain();
        BOOST_TEST(c.servers_with("r") == 0u, "it was undone");
        c.replicas[1].resume();
        lease held = co_await resource.acquire();
        BOOST_TEST(has(c.replicas[1], "r"));
    });
}

// Fewer than all: then only those that have it may be promoted, and who sees to that is not us.
BOOST_AUTO_TEST_CASE(as_many_as_were_asked_for_are_enough)
{
    replicated c{"?replicas=1"};
    c.run([&]() -> asio::awaitable<void> {
        c.replicas[1].stop();
        lock const resource{c.nodes, "r", plain};
        lease held = co_await resource.acquire();
        BOOST_TEST(has(c.replicas[0], "r"));
        c.replicas[1].resume();
    });
}

BOOST_AUTO_TEST_CASE(an_extension_that_is_not_durable_is_unknown_not_lost)
{
    replicated c{"?replicas=2"};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", plain};
        lease held = co_await resource.acquire();
        auto const until = held.valid_until();
        c.replicas[0].stop();
        auto [ec] = co_await held.extend(asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(held.valid());
        BOOST_TEST((held.valid_until() == until));
        c.replicas[0].resume();
        co_await held.extend();
        BOOST_TEST((held.valid_until() > until));
    });
}

// As when a machine has too much to do: each acknowledgement comes, and each comes later than `replication_timeout`.
BOOST_AUTO_TEST_CASE(extensions_count_where_replicas_are_behind)
{
    replicated c{"?replicas=1", 1};
    tcp_proxy between{{c.primary().port()}};
    c.replicas[0].command({"REPLICAOF", "127.0.0.1", std::to_string(between.ports()[0])});
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", plain};
        lease held = co_await resource.acquire();
        link_rule late;
        late.to_client.delay = 350ms;
        between.set(0, late);
        auto const until = held.valid_until();
        bool extended = false;
        for (int i = 0; i < 3 && !extended; ++i) {  // that they are behind shows from the second wait on
            auto [ec] = co_await held.extend(asio::as_tuple);
            extended = !ec;
        }
        BOOST_TEST(extended);
        BOOST_TEST((held.valid_until() > until));
        auto [ec, nothing] = co_await lock{c.nodes, "another", plain}.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority, "who has no lock yet does not wait for so long");
    });
}

// What was set and is undone is nobody else's: who waits must not wait for it to expire.
BOOST_AUTO_TEST_CASE(who_waits_goes_on_trying)
{
    replicated c{"?replicas=2"};
    c.run([&]() -> asio::awaitable<void> {
        c.replicas[0].stop();
        auto later = [&]() -> asio::awaitable<void> {
            bool const tried = co_await eventually([&] { return c.nodes.status().counters.no_majority >= 3; });
            BOOST_TEST(tried);
            c.replicas[0].resume();
        };
        asio::co_spawn(c.io, later(), asio::detached);
        lock const resource{c.nodes,
                            "r",
                            {.ttl = 20s, .fencing = false, .node_timeout = 5s, .max_retry_delay = 50ms, .poll_interval = 20s}};
        stopwatch watch;
        lease held = co_await resource.acquire();
        BOOST_TEST(c.nodes.status().counters.no_majority >= 3u);
        BOOST_TEST(watch.ms() < 10'000);
    });
}

BOOST_AUTO_TEST_CASE(a_server_without_replicas_is_no_node_until_they_come)
{
    replicated c{"?replicas=2", 0};
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        bool const known = co_await eventually([&] { return c.status().last_error == errc::not_durable; });
        BOOST_TEST(known);
        BOOST_TEST(mentions(c.status().last_error_text, "the server has no replica, and its votes need 2"), c.status().last_error_text);
        BOOST_TEST(c.status().connects == 0u);

        follow(c.replicas.emplace_back(), c.primary());
        bool const one = co_await eventually([&] { return mentions(c.status().last_error_text, "the server has 1 of 2 replicas"); });
        BOOST_TEST(one, c.status().last_error_text);
        follow(c.replicas.emplace_back(), c.primary());
        bool const both = co_await eventually([&] { return c.usable() == 1; });
        BOOST_TEST(both, c.status().last_error_text);
        lock const resource{c.nodes, "r", {.ttl = 20s, .fencing = false, .node_timeout = 5s, .max_retry_delay = 50ms}};
        lease held = co_await resource.acquire();
        for (auto const& replica : c.replicas) BOOST_TEST(has(replica, "r"));
    });
}

BOOST_AUTO_TEST_CASE(replicas_that_go_away_are_missed)
{
    replicated c{"?replicas=1", 1};
    c.run([&]() -> asio::awaitable<void> {
        c.cut_links();
        lock const resource{c.nodes, "r", plain};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "not_durable");
        BOOST_TEST(report.nodes[0].detail == "0 of 1 replicas acknowledged within 200 ms: the server has no replica");
    });
}

// Both connections are one: what one of them cannot do any more, the other need not do either.
BOOST_AUTO_TEST_CASE(the_waiting_connection_breaks)
{
    config patient = quick_config();
    patient.replication_timeout = 4s;
    replicated c{"?replicas=2", 2, patient};
    c.run([&]() -> asio::awaitable<void> {
        c.replicas[0].stop();
        lock const resource{c.nodes, "r", plain};
        attempt_report report;
        auto kill = [&]() -> asio::awaitable<void> {
            std::string const waiting = " flags=b ";
            bool const waits = co_await eventually([&] { return mentions(c.primary().command({"CLIENT", "LIST"}), waiting); });
            BOOST_TEST(waits);
            auto const list = c.primary().command({"CLIENT", "LIST"});
            auto const line = list.rfind("id=", list.find(waiting));
            c.primary().command({"CLIENT", "KILL", "ID", list.substr(line + 3, list.find(' ', line) - line - 3)});
        };
        asio::co_spawn(c.io, kill(), asio::detached);
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "not_durable");
        BOOST_TEST(report.nodes[0].detail == "the connection that waits for it was lost");
        c.replicas[0].resume();
        bool const back = co_await eventually([&] { return c.status().connects == 2 && c.usable() == 1; });
        BOOST_TEST(back, c.status().last_error_text);
        co_await c.nodes.drain();
        BOOST_TEST(c.servers_with("r") == 0u, "the release went out when the node was back");
        lease held = co_await resource.acquire();
        BOOST_TEST(held.valid());
    });
}

// Replicas of one server say nothing of what the other has.
BOOST_AUTO_TEST_CASE(an_address_of_two_servers_is_no_node)
{
    replicated c{"?replicas=1", 1};
    redis_server const another{quick_to_copy({})}, its_replica{quick_to_copy({})};
    follow(its_replica, another);
    wait_for_replicas(another, 1);
    alternating_proxy proxy{c.io, c.primary().port(), another.port()};
    config settings = quick_config();
    settings.nodes = {node_address::from_url(proxy.url() + "?replicas=1")};
    c.nodes = redlock::client{c.io.get_executor(), settings};
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        bool const known = co_await eventually([&] { return c.status().last_error == errc::node_unsuitable; });
        BOOST_TEST(known, c.status().last_error_text);
        BOOST_TEST(mentions(c.status().last_error_text, "led to two servers"), c.status().last_error_text);
        BOOST_TEST(c.status().connects == 0u);
        proxy.stop();
    });
}

// Answers that arrive while somebody waits share the next WAIT.
BOOST_AUTO_TEST_CASE(many_share_a_wait)
{
    constexpr int holders = 64, turns = 10;
    replicated c{"?replicas=2"};
    c.run([&]() -> asio::awaitable<void> {
        int done = 0;
        auto hold = [&](int i) -> asio::awaitable<void> {
            lock const resource{c.nodes, "r" + std::to_string(i), plain};
            for (int turn = 0; turn < turns; ++turn) {
                lease held = co_await resource.acquire();
                co_await held.release();
            }
            ++done;
        };
        for (int i = 0; i < holders; ++i) asio::co_spawn(co_await asio::this_coro::executor, hold(i), asio::detached);
        bool const all = co_await eventually([&] { return done == holders; }, 20s);
        BOOST_TEST(all);
        auto const waits = calls_of(c.primary(), "wait");
        BOOST_TEST(c.nodes.status().counters.acquired == static_cast<std::uint64_t>(holders * turns));
        BOOST_TEST(waits * 4 < static_cast<std::size_t>(holders * turns));
        BOOST_TEST_MESSAGE(waits << " WAITs for " << holders * turns << " leases");
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
