// Acquire, contend, extend, release: what the servers hold at each step, for every number of nodes.
#include "support/cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <set>
#include <string>

#include <unistd.h>

namespace redlock::testing {
namespace {

// 32 random digits, then this process.
bool is_value_of_ours(std::string const& text)
{
    return text.find_first_not_of("0123456789abcdef") == 32 && text[32] == ':' &&
           text.find(':' + std::to_string(::getpid()) + ':') != std::string::npos;
}

void the_whole_life_of_a_lease(std::size_t size)
{
    cluster c{size};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "orders:42", long_ttl};
        auto const before = boot_clock::now();
        lease held = co_await resource.acquire();

        BOOST_TEST(held.valid());
        BOOST_TEST(held.name() == "orders:42");
        auto const validity = held.valid_until() - before;
        BOOST_TEST((validity > 18s && validity < 20s), validity / 1ms << " ms");
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == size && c.servers_with("orders:42") == size; });
        BOOST_TEST_REQUIRE(everywhere);
        for (std::size_t i = 0; i < size; ++i) {
            BOOST_TEST(is_value_of_ours(c.value(i, "orders:42")), c.value(i, "orders:42"));
            BOOST_TEST(c.value(i, "orders:42") == c.value(0, "orders:42"));
            auto const left = c.ttl_left(i, "orders:42");
            BOOST_TEST((left > 18s && left <= 20s), left.count() << " ms left");
        }

        attempt_report report;
        auto [contended, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(contended == errc::contended);
        BOOST_TEST(!nothing);
        BOOST_TEST(report.outcome == errc::contended);
        BOOST_TEST_REQUIRE(report.nodes.size() == size);
        for (auto const& verdict : report.nodes) BOOST_TEST(verdict.vote != vote::granted, verdict.node);

        c.on_all({"PEXPIRE", "orders:42", "5000"});
        co_await held.extend();
        for (std::size_t i = 0; i < size; ++i) {
            bool const raised = co_await eventually([&] { return c.ttl_left(i, "orders:42") > 18s; });
            BOOST_TEST(raised);
        }

        co_await held.release();
        BOOST_TEST(!held.valid());
        co_await c.nodes.drain();
        BOOST_TEST(c.servers_with("orders:42") == 0u);
    });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(acquire)

BOOST_AUTO_TEST_CASE(on_a_single_node) { the_whole_life_of_a_lease(1); }
BOOST_AUTO_TEST_CASE(on_three_nodes) { the_whole_life_of_a_lease(3); }
BOOST_AUTO_TEST_CASE(on_four_nodes) { the_whole_life_of_a_lease(4); }
BOOST_AUTO_TEST_CASE(on_five_nodes) { the_whole_life_of_a_lease(5); }

BOOST_FIXTURE_TEST_CASE(every_attempt_has_a_value_of_its_own, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        std::set<std::string> values;
        for (int i = 0; i < 20; ++i) {
            lease held = co_await resource.acquire();
            bool const everywhere = co_await eventually([&] { return servers_with("r") == 3; });
            BOOST_TEST_REQUIRE(everywhere);
            values.insert(value(0, "r"));
            co_await held.release();
            co_await nodes.drain();
        }
        BOOST_TEST(values.size() == 20u);
    });
}

BOOST_FIXTURE_TEST_CASE(a_single_node_that_is_down_is_no_majority, one_node)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].kill();
        attempt_report report;
        lock const resource{nodes, "r", impatient};
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "node_unreachable");
    });
}

BOOST_AUTO_TEST_CASE(the_majority_of_four_is_three)
{
    cluster c{4};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", impatient};
        c.servers[1].kill();
        lease held = co_await resource.acquire();
        BOOST_TEST(held.nodes_held() == 3u);
        BOOST_TEST(c.servers_with("r") == 3u);
        co_await held.release();

        c.servers[3].kill();
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(!nothing);
        co_await c.nodes.drain();
        BOOST_TEST(c.servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(whoever_waits_gets_the_lock_when_it_is_free, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 20s, .max_local_hold = 10s}};
        lease first = co_await resource.acquire();
        auto executor = co_await asio::this_coro::executor;
        bool let_go = false;
        auto later = [&]() -> asio::awaitable<void> {
            co_await pause(200ms);
            let_go = true;
            co_await first.release();
        };
        asio::co_spawn(executor, later(), asio::detached);

        attempt_report report;
        lease second = co_await resource.acquire(report);
        BOOST_TEST(let_go);
        BOOST_TEST(report.attempts == 0u);  // it was handed over
        BOOST_TEST(!report.outcome);
        BOOST_TEST(second.valid());
    });
}

BOOST_FIXTURE_TEST_CASE(waiting_has_a_deadline, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const holder{nodes, "r", long_ttl};
        lease held = co_await holder.acquire();
        lock const resource{nodes, "r", {.ttl = 20s, .acquire_timeout = 300ms, .max_retry_delay = 50ms}};
        stopwatch watch;
        attempt_report report;
        auto [ec, nothing] = co_await resource.acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::acquire_timed_out);
        BOOST_TEST(ec == condition::not_acquired);
        BOOST_TEST(report.outcome == errc::contended);
        BOOST_TEST(report.attempts == 0u);  // there is nothing to ask the nodes
        BOOST_TEST(watch.ms() >= 299);
        BOOST_TEST(watch.ms() < 2'000);
        BOOST_TEST(held.valid());
    });
}

BOOST_FIXTURE_TEST_CASE(waiting_has_a_number_of_attempts, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const holder{nodes, "r", long_ttl};
        lease held = co_await holder.acquire();
        lock const resource{nodes, "r", {.ttl = 20s, .max_attempts = 3, .max_retry_delay = 20ms}};
        attempt_report report;
        auto [ec, nothing] = co_await resource.acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::contended);
        BOOST_TEST(report.attempts == 3u);
    });
}

BOOST_FIXTURE_TEST_CASE(two_clients_never_hold_the_same_lock, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        lock const ours{nodes, "r", long_ttl};
        lock const theirs{*other, "r", {.ttl = 20s, .max_retry_delay = 20ms}};
        for (int i = 0; i < 10; ++i) {
            lease a = co_await ours.acquire();
            auto [refused, nothing] = co_await theirs.try_acquire(asio::as_tuple);
            BOOST_TEST(refused == condition::contended);  // or split_votes, where the holder has the lock on two nodes so far
            co_await a.release();
            lease b = co_await theirs.acquire();
            BOOST_TEST(!a.valid());
            co_await b.release();
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
