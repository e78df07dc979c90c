// Many waiters, on real servers: what wakes who waits, the line within a client, owners, several names.
#include "support/cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>

namespace redlock::testing {

using namespace std::chrono_literals;

namespace {

// Whoever waits with these and is not told gets the lock in an hour.
constexpr lock_options only_if_told{.ttl = 20s, .poll_interval = 1h};

// One who waits, and when it was over.
struct waiter {
    lease held;
    error_code ec;
    attempt_report report;
    bool done{false};

    asio::awaitable<void> wait(lock resource)
    {
        std::tie(ec, held) = co_await resource.acquire(report, asio::as_tuple);
        done = true;
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(waiting)

BOOST_FIXTURE_TEST_CASE(a_release_wakes_who_waits_in_another_client, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        for (bool const fencing : {true, false}) {
            auto options = only_if_told;
            options.fencing = fencing;
            lease held = co_await lock{*other, "r", options}.acquire();
            waiter w;
            asio::co_spawn(io, w.wait(lock{nodes, "r", options}), asio::detached);
            co_await pause(200ms);
            BOOST_TEST(!w.done);
            stopwatch watch;
            co_await held.release();
            bool const woken = co_await eventually([&] { return w.done; });
            BOOST_TEST_REQUIRE(woken);
            BOOST_TEST(!w.ec);
            BOOST_TEST(w.report.attempts <= 4u);  // the first, and one for each node that tells: they may do so one after the other
            co_await w.held.release();
        }
        BOOST_TEST(nodes.status().counters.wakeups >= 2u);
        BOOST_TEST(nodes.status().counters.polls == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(a_deletion_wakes_who_waits, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        on_all({"SET", "r", "somebody's"});
        waiter w;
        asio::co_spawn(io, w.wait(lock{nodes, "r", only_if_told}), asio::detached);
        co_await pause(200ms);
        BOOST_TEST(!w.done);
        on_all({"DEL", "r"});
        bool const woken = co_await eventually([&] { return w.done; });
        BOOST_TEST_REQUIRE(woken);
        BOOST_TEST(!w.ec);
        co_await w.held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(an_expiry_is_not_missed, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        on_all({"SET", "r", "somebody's", "PX", "500"});
        waiter w;
        stopwatch watch;
        asio::co_spawn(io, w.wait(lock{nodes, "r", only_if_told}), asio::detached);
        bool const woken = co_await eventually([&] { return w.done; });
        BOOST_TEST_REQUIRE(woken);
        BOOST_TEST(!w.ec);
        BOOST_TEST(watch.ms() >= 400);
        BOOST_TEST(w.report.attempts <= 3u);
        co_await w.held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(an_extension_by_the_holder_wakes_nobody_for_good, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        lock_options options{.ttl = 600ms, .node_timeout = 100ms, .poll_interval = 1h};
        lease held = co_await lock{*other, "r", options}.acquire();
        waiter w;
        asio::co_spawn(io, w.wait(lock{nodes, "r", options}), asio::detached);
        co_await pause(2s);
        BOOST_TEST(!w.done);
        BOOST_TEST(held.valid());
        BOOST_TEST(nodes.status().counters.wakeups >= 1u);
        co_await held.release();
        bool const woken = co_await eventually([&] { return w.done; });
        BOOST_TEST_REQUIRE(woken);
        BOOST_TEST(!w.ec);
        co_await w.held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(who_waits_asks_anew_when_the_connections_were_lost, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto options = only_if_told;
        options.poll_interval = 500ms;
        on_all({"SET", "r", "somebody's"});
        waiter w;
        asio::co_spawn(io, w.wait(lock{nodes, "r", options}), asio::detached);
        co_await pause(200ms);
        on_all({"CLIENT", "KILL", "TYPE", "normal"});
        on_all({"DEL", "r"});
        bool const woken = co_await eventually([&] { return w.done; });
        BOOST_TEST_REQUIRE(woken);
        BOOST_TEST(!w.ec);
        co_await w.held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(a_lease_is_handed_over_within_a_client, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 20s, .max_local_hold = 10s}};
        lease first = co_await resource.acquire();
        std::array<waiter, 3> line;
        for (waiter& w : line) {
            asio::co_spawn(io, w.wait(resource), asio::detached);
            co_await pause(1ms);
        }
        std::string const key = value(0, "r");
        auto last = first.token();
        co_await first.release();
        for (waiter& w : line) {
            bool const got = co_await eventually([&] { return w.done; });
            BOOST_TEST_REQUIRE(got);
            BOOST_TEST(w.held.valid());
            BOOST_TEST(w.held.token() > last);
            BOOST_TEST(value(0, "r") == key);
            last = w.held.token();
            co_await w.held.release();
        }
        BOOST_TEST(nodes.status().counters.handoffs == 3u);
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
        lease later = co_await resource.acquire();
        BOOST_TEST(later.token() > last);
        co_await later.release();
    });
}

BOOST_FIXTURE_TEST_CASE(an_owner_nests_and_the_last_gives_back, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto options = long_ttl;
        options.owner = new_owner();
        lock const resource{nodes, "r", options};
        lease outer = co_await resource.acquire();
        lease inner = co_await resource.acquire();
        BOOST_TEST(inner.token() == outer.token());
        co_await outer.release();
        BOOST_TEST(inner.valid());
        bool const everywhere = co_await eventually([&] { return servers_with("r") == 3; });
        BOOST_TEST(everywhere);
        co_await inner.release();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(several_names_are_held_all_or_not_at_all, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        for (bool const fencing : {true, false}) {
            lock_options options{.ttl = 3s, .fencing = fencing, .node_timeout = 1s};
            lock const all{nodes, {"c", "a", "b"}, options};
            lock const one{*other, "b", options};
            lease held = co_await all.acquire();
            error_code refused;
            lease const nothing = co_await one.try_acquire(asio::redirect_error(refused));
            BOOST_TEST(refused == condition::contended);
            bool const everywhere = co_await eventually(
                [&] { return servers_with("a") == 3 && servers_with("b") == 3 && servers_with("c") == 3; });
            BOOST_TEST(everywhere);
            co_await pause(1500ms);  // it was extended meanwhile
            BOOST_TEST(ttl_left(0, "c") > 1600ms);
            auto const token = held.token();
            co_await held.release();
            lease b = co_await one.acquire();
            BOOST_TEST((!fencing || b.token() > token));
            bool const of_b = co_await eventually([&] { return servers_with("a") == 0 && servers_with("b") == 3; });
            BOOST_TEST(of_b);  // where it was not yet, all would be granted: split votes
            auto [partly, nobody] = co_await all.try_acquire(asio::as_tuple);
            BOOST_TEST(partly == errc::contended);
            co_await nodes.drain();
            BOOST_TEST(servers_with("a") == 0u);
            waiter w;
            asio::co_spawn(io, w.wait(all), asio::detached);
            co_await pause(100ms);
            BOOST_TEST(!w.done);
            auto const last = b.token();
            co_await b.release();
            bool const woken = co_await eventually([&] { return w.done; });
            BOOST_TEST_REQUIRE(woken);
            BOOST_TEST((!fencing || w.held.token() > last));
            co_await w.held.release();
        }
    });
}

// Whoever locked these one by one, in the order of the names that were given, would wait for ever.
BOOST_FIXTURE_TEST_CASE(locks_of_several_names_do_not_wait_for_each_other, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        int turns = 0;
        auto work = [&](redlock::client& with, std::vector<std::string> names) -> asio::awaitable<void> {
            lock const resource{with, std::move(names), {.ttl = 20s, .node_timeout = 1s}};
            for (int i = 0; i < 20; ++i) {
                lease held = co_await resource.acquire();
                co_await pause(1ms);
                BOOST_TEST(held.valid());
                co_await held.release();
                ++turns;
            }
        };
        asio::co_spawn(io, work(nodes, {"a", "b"}), asio::detached);
        asio::co_spawn(io, work(*other, {"b", "a"}), asio::detached);
        asio::co_spawn(io, work(nodes, {"b", "c"}), asio::detached);
        asio::co_spawn(io, work(*other, {"c", "a"}), asio::detached);
        bool const all = co_await eventually([&] { return turns == 80; });
        BOOST_TEST(all);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
