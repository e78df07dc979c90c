// How the loss of a lease is noticed: by the next extension, or before the end of its validity, and never too early.
#include "support/cluster.hpp"

namespace redlock::testing {
namespace {

// An extension is due every 500 ms, and a lost majority is noticed by the next one.
// Without tokens, so that a key that is gone stays gone (fenced_locks_test.cpp has the others).
constexpr lock_options steady_without_tokens{.ttl = 3s, .fencing = false, .extend_interval = 500ms};

}  // namespace

BOOST_AUTO_TEST_SUITE(loss)

BOOST_FIXTURE_TEST_CASE(keys_deleted_on_a_majority_are_noticed_by_the_next_extension, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", steady_without_tokens};
        lease held = co_await resource.acquire();
        servers[0].command({"DEL", "r"});
        servers[1].command({"DEL", "r"});
        stopwatch watch;
        auto [why] = co_await held.wait_lost(asio::as_tuple);
        BOOST_TEST(why == errc::lease_lost);
        BOOST_TEST(why == condition::lost);
        BOOST_TEST(watch.ms() < 1'500, "one interval is 500 ms");
        BOOST_TEST(!held.valid());
        BOOST_TEST(nodes.status().counters.extensions_lost == 1u);
        BOOST_TEST(nodes.status().counters.watchdog_late == 0u, "it was the extension that noticed");
        auto const ended_ago = boot_clock::now() - held.valid_until();
        BOOST_TEST((ended_ago >= 0ns && ended_ago < 1s), ended_ago / 1ms << " ms ago");
        BOOST_TEST(held.lost_error() == errc::lease_lost);
        auto [again] = co_await held.wait_lost(asio::as_tuple);
        BOOST_TEST(again == errc::lease_lost);
        auto [extended] = co_await held.extend(asio::as_tuple);
        BOOST_TEST(extended == errc::lease_lost);
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(released == errc::lease_lost);
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u, "the key on the minority was given back");
    });
}

BOOST_FIXTURE_TEST_CASE(a_key_deleted_on_a_minority_does_no_harm, five_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", steady_without_tokens};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 5; });
        BOOST_TEST(everywhere);
        servers[0].command({"DEL", "r"});
        servers[3].command({"SET", "r", "somebody else's"});
        bool const noticed = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(noticed);
        BOOST_TEST(held.valid());
        co_await held.release();
        co_await nodes.drain();
        BOOST_TEST(value(3, "r") == "somebody else's");
        servers[3].command({"DEL", "r"});
    });
}

BOOST_FIXTURE_TEST_CASE(somebody_elses_value_on_a_majority_is_a_loss, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", steady_without_tokens};
        lease held = co_await resource.acquire();
        servers[1].command({"SET", "r", "somebody else's", "PX", "20000"});
        servers[2].command({"SET", "r", "somebody else's", "PX", "20000"});
        stopwatch watch;
        auto [why] = co_await held.wait_lost(asio::as_tuple);
        BOOST_TEST(why == errc::lease_lost);
        BOOST_TEST(watch.ms() < 1'500);
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(released == errc::lease_lost);
        co_await nodes.drain();
        BOOST_TEST(value(1, "r") == "somebody else's");
        BOOST_TEST(ttl_left(1, "r") <= 20s);
        on_all({"DEL", "r"});
    });
}

BOOST_FIXTURE_TEST_CASE(a_silent_majority_ends_the_lease_before_its_validity, five_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 1500ms, .stop_margin = 500ms}};
        lease held = co_await resource.acquire();
        for (std::size_t i : {0u, 1u, 2u}) servers[i].stop();
        auto [why] = co_await held.wait_lost(asio::as_tuple);
        auto const now = boot_clock::now();
        BOOST_TEST(why == errc::lease_lost);
        auto const left = held.valid_until() - now;
        BOOST_TEST((left > 0ns && left <= 500ms), left / 1ms << " ms were left");
        BOOST_TEST(!held.valid());
        BOOST_TEST(nodes.status().counters.extensions_unknown > 0u, "it was tried");
        BOOST_TEST(nodes.status().counters.leases_lost == 1u);
        for (std::size_t i : {0u, 1u, 2u}) servers[i].resume();
    });
}

// A hiccup shorter than the validity: not knowing is not losing.
BOOST_FIXTURE_TEST_CASE(a_majority_that_is_silent_for_a_while_is_no_loss, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 4s, .node_timeout = 100ms, .extend_interval = 200ms}};
        lease held = co_await resource.acquire();
        servers[0].stop();
        servers[1].stop();
        bool const tried = co_await eventually([&] { return nodes.status().counters.extensions_unknown > 0; });
        BOOST_TEST(tried);
        auto const renewed = nodes.status().counters.extensions_renewed;
        servers[0].resume();
        servers[1].resume();
        bool const again = co_await eventually([&] { return nodes.status().counters.extensions_renewed > renewed; });
        BOOST_TEST(again);
        BOOST_TEST(held.valid(3s));
    });
}

BOOST_FIXTURE_TEST_CASE(without_the_watchdog_a_lease_ends_by_itself, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 1s, .auto_extend = false, .stop_margin = 400ms}};
        lease held = co_await resource.acquire();
        auto [why] = co_await held.wait_lost(asio::as_tuple);
        BOOST_TEST(why == errc::lease_lost);
        BOOST_TEST((boot_clock::now() < held.valid_until()));
        BOOST_TEST(nodes.status().counters.extensions_renewed == 0u);
        bool const expired = co_await eventually([&] { return servers_with("r") == 0; }, 3s);
        BOOST_TEST(expired);
    });
}

BOOST_FIXTURE_TEST_CASE(max_hold_ends_a_lease_that_could_go_on, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 20s, .max_hold = 400ms}};
        stopwatch watch;
        lease held = co_await resource.acquire();
        auto [why] = co_await held.wait_lost(asio::as_tuple);
        BOOST_TEST(why == errc::max_hold_exceeded);
        BOOST_TEST(why == condition::lost);
        BOOST_TEST(watch.ms() >= 399);
        BOOST_TEST(watch.ms() < 2'000);
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(released == errc::max_hold_exceeded);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
