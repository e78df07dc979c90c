// Nodes that are killed or stopped: what is still possible, what is reported, and that it ends well when they return.
#include "support/cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(faults)

BOOST_FIXTURE_TEST_CASE(one_of_three_killed, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[2].kill();
        lock const resource{nodes, "r", impatient};
        attempt_report report;
        lease held = co_await resource.acquire(report);
        BOOST_TEST(report.attempts == 1u);
        BOOST_TEST(report.nodes[2].vote != vote::granted);
        BOOST_TEST(servers_with("r") == 2u);
        co_await held.extend();
        co_await held.release();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(one_of_three_stopped, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].stop();
        lock const resource{nodes, "r", {.ttl = 20s, .node_timeout = 5s}};
        attempt_report report;
        stopwatch watch;
        lease held = co_await resource.acquire(report);
        BOOST_TEST(watch.ms() < 2'500, "the stopped node was waited for");
        BOOST_TEST(verdicts(report) == "pending granted granted");
        BOOST_TEST(held.nodes_held() == 2u);
        co_await held.extend();
        co_await held.release();
        servers[0].resume();
    });
}

BOOST_FIXTURE_TEST_CASE(two_of_five_killed, five_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[1].kill();
        servers[3].kill();
        lock const resource{nodes, "r", impatient};
        attempt_report report;
        lease held = co_await resource.acquire(report);
        BOOST_TEST(held.nodes_held() == 3u);
        BOOST_TEST(servers_with("r") == 3u);
        co_await held.extend();
        co_await held.release();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(one_of_five_killed_and_one_stopped, five_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].kill();
        servers[4].stop();
        bool const noticed = co_await eventually([&] { return usable() == 4; });
        BOOST_TEST(noticed);
        lock const resource{nodes, "r", impatient};
        attempt_report report;
        lease held = co_await resource.acquire(report);
        BOOST_TEST(verdicts(report) == "node_unreachable granted granted granted pending");
        co_await held.extend();
        co_await held.release();
        servers[4].resume();
    });
}

BOOST_FIXTURE_TEST_CASE(a_majority_killed_is_no_majority_until_it_is_back, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].kill();
        servers[1].kill();
        bool const noticed = co_await eventually([&] { return usable() == 1; });
        BOOST_TEST(noticed);
        lock const resource{nodes, "r", {.ttl = 20s, .node_timeout = 400ms, .max_retry_delay = 50ms}};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(!nothing);
        BOOST_TEST(verdicts(report).starts_with("node_unreachable node_unreachable"), verdicts(report));

        bool returned = false;
        auto later = [&]() -> asio::awaitable<void> {
            co_await pause(100ms);
            servers[1].restart();
            admit(servers[1]);
            returned = true;
        };
        asio::co_spawn(io, later(), asio::detached);
        lease held = co_await resource.acquire();
        BOOST_TEST(returned);
        BOOST_TEST(held.nodes_held() == 2u);
    });
}

BOOST_FIXTURE_TEST_CASE(a_majority_stopped_is_no_majority_until_it_goes_on, five_nodes)
{
    run([&]() -> asio::awaitable<void> {
        for (std::size_t i : {0u, 2u, 4u}) servers[i].stop();
        lock const resource{nodes, "r", {.ttl = 20s, .node_timeout = 400ms, .max_retry_delay = 50ms}};
        attempt_report report;
        stopwatch watch;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(watch.ms() >= 399);
        BOOST_TEST(verdicts(report) == "node_timeout granted node_timeout granted node_timeout");
        BOOST_TEST((report.nodes[1].answered_after > 0us && report.nodes[1].answered_after < 400ms));

        bool resumed = false;
        auto later = [&]() -> asio::awaitable<void> {
            co_await pause(100ms);
            for (std::size_t i : {0u, 2u, 4u}) servers[i].resume();
            resumed = true;
        };
        asio::co_spawn(io, later(), asio::detached);
        lease held = co_await resource.acquire();
        BOOST_TEST(resumed);
        BOOST_TEST(held.valid());
    });
}

// Every kind of answer in one report, and none looks like another.
BOOST_FIXTURE_TEST_CASE(the_report_tells_refused_from_failed, five_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].command({"SET", "r", "somebody else's"});
        servers[1].kill();
        servers[2].stop();
        bool const noticed = co_await eventually([&] { return usable() == 4; });
        BOOST_TEST(noticed);
        lock const resource{nodes, "r", impatient};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "refused node_unreachable node_timeout granted granted");
        BOOST_TEST(!report.nodes[0].error);
        BOOST_TEST(!report.nodes[3].error);
        BOOST_TEST(report.nodes[1].error == condition::node_failure);
        for (std::size_t i = 0; i < 5; ++i) BOOST_TEST(report.nodes[i].node == "127.0.0.1:" + std::to_string(servers[i].port()));

        // Two grants do not outvote one refusal and two nodes that cannot be asked: they were given back.
        servers[2].resume();
        co_await nodes.drain();
        BOOST_TEST(value(0, "r") == "somebody else's");
        servers[0].command({"DEL", "r"});
    });
}

// A node that answers with an error works no better than one that does not answer; but its words are in the report.
BOOST_FIXTURE_TEST_CASE(an_error_of_the_server_is_a_failure, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].command({"CONFIG", "SET", "maxmemory", "1"});  // with the policy noeviction: writes are refused
        servers[1].command({"CONFIG", "SET", "min-replicas-to-write", "1"});
        lock const resource{nodes, "r", impatient};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report).starts_with("server_error server_error"), verdicts(report));
        BOOST_TEST(report.nodes[0].detail.starts_with("OOM"), report.nodes[0].detail);
        BOOST_TEST(report.nodes[1].detail.starts_with("NOREPLICAS"), report.nodes[1].detail);
    });
}

// What it says of a moment is no reason to leave the keys there for the rest of their ttl.
BOOST_FIXTURE_TEST_CASE(a_release_that_is_answered_with_an_error_is_repeated, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        on_all({"CONFIG", "SET", "min-replicas-to-write", "1"});
        auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
        auto const [ec] = co_await std::move(releasing);
        BOOST_TEST(ec == errc::release_unconfirmed);
        BOOST_TEST(servers_with("r") == 3u);
        on_all({"CONFIG", "SET", "min-replicas-to-write", "0"});
        bool const gone = co_await eventually([&] { return servers_with("r") == 0; }, 10s);
        BOOST_TEST(gone, "they would expire in 20 s");
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
