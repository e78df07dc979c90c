// The watchdog: what keeps a lease alive for as long as it is held.
#include "support/cluster.hpp"
#include "support/command_stats.hpp"

#include <algorithm>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

// Short enough to see several extensions, long enough that a busy machine does not miss them.
constexpr lock_options lively{.ttl = 600ms, .node_timeout = 300ms};

}  // namespace

BOOST_AUTO_TEST_SUITE(watchdog)

BOOST_FIXTURE_TEST_CASE(a_lease_outlives_five_ttls_and_keeps_others_out, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        lock const ours{nodes, "r", lively};
        lock const theirs{*other, "r", lively};
        lease held = co_await ours.acquire();
        bool const ready = co_await eventually([&] { return other->status().nodes[2].state == node_state::usable; });
        BOOST_TEST(ready);
        auto const end = boot_clock::now() + 5 * lively.ttl;
        int refusals = 0;
        while (boot_clock::now() < end) {
            auto [ec, nothing] = co_await theirs.try_acquire(asio::as_tuple);
            BOOST_TEST(ec == condition::not_acquired);
            refusals += ec == errc::contended;
            BOOST_TEST_REQUIRE(held.valid());
            co_await pause(20ms);
        }
        BOOST_TEST(refusals > 20);
        BOOST_TEST(nodes.status().counters.extensions_renewed >= 10u);
        BOOST_TEST(nodes.status().counters.leases_lost == 0u);
        co_await held.release();
        lease next = co_await theirs.acquire();
        BOOST_TEST(next.valid());
    });
}

BOOST_FIXTURE_TEST_CASE(a_lease_outlives_five_ttls_with_a_node_down, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[1].stop();
        lock const resource{nodes, "r", lively};
        lease held = co_await resource.acquire();
        co_await pause(5 * lively.ttl);
        BOOST_TEST(held.valid());
        BOOST_TEST(held.nodes_held() == 2u);
        co_await held.release();
        servers[1].resume();
    });
}

BOOST_FIXTURE_TEST_CASE(flushed_scripts_are_loaded_again_without_anybody_noticing, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 20s, .auto_extend = false}};
        lease held = co_await resource.acquire();
        on_all({"SCRIPT", "FLUSH"});
        on_all({"PEXPIRE", "r", "5000"});
        co_await held.extend();
        BOOST_TEST(held.nodes_held() >= 2u);
        bool const raised = co_await eventually([&] { return ttl_left(0, "r") > 18s && ttl_left(2, "r") > 18s; });
        BOOST_TEST(raised);
        on_all({"SCRIPT", "FLUSH"});
        co_await held.release();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(scripts_flushed_while_the_watchdog_runs, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", lively};
        lease held = co_await resource.acquire();
        for (int i = 0; i < 6; ++i) {
            on_all({"SCRIPT", "FLUSH"});
            auto const renewed = nodes.status().counters.extensions_renewed;
            bool const again = co_await eventually([&] { return nodes.status().counters.extensions_renewed > renewed; });
            BOOST_TEST(again);
        }
        BOOST_TEST(held.valid());
        BOOST_TEST(nodes.status().counters.extensions_unknown == 0u);
    });
}

// Leases that are due together share a script call, whatever becomes of the others in it.
BOOST_FIXTURE_TEST_CASE(many_leases_are_extended_together, three_nodes)
{
    constexpr std::size_t count = 250;
    run([&]() -> asio::awaitable<void> {
        std::vector<lease> held;
        for (std::size_t i = 0; i < count; ++i) {
            lock const resource{nodes, "r" + std::to_string(i), {.ttl = 4s, .extend_interval = 500ms}};
            lease one = co_await resource.acquire();
            held.push_back(std::move(one));
        }
        on_all({"SET", "r7", "somebody else's"});
        on_all({"CONFIG", "RESETSTAT"});
        co_await pause(2s);
        auto const lost = std::count_if(held.begin(), held.end(), [](lease const& l) { return !l.valid(); });
        BOOST_TEST(lost == 1);
        BOOST_TEST(!held[7].valid());
        BOOST_TEST(held[7].lost_error() == errc::lease_lost);
        // Four rounds of extensions in two seconds, 100 leases a call: far fewer calls than leases.
        auto const calls = calls_of(servers[0], "evalsha");
        BOOST_TEST(calls > 0u);
        BOOST_TEST(calls < 2 * count);
        held.clear();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r8") == 0u);
        on_all({"DEL", "r7"});
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
