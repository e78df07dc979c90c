// Read-write locks on real servers: readers together, writers alone, waiting and waking, extension, loss, and neighbours that know nothing of readers.
#include "support/cluster.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

constexpr lock_options steady{.ttl = 3s, .extend_interval = 300ms};

struct later {
    std::optional<error_code> ec;
    lease held;
    asio::cancellation_signal signal;

    auto handler()
    {
        return asio::bind_cancellation_slot(signal.slot(), [this](error_code e, lease l) {
            ec = e;
            held = std::move(l);
        });
    }
};

asio::awaitable<void> pause_for(std::chrono::milliseconds time)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, time};
    co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rw_locks)

BOOST_FIXTURE_TEST_CASE(readers_of_several_clients_hold_it_together, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        rw_lock const here{nodes, "r", long_ttl};
        rw_lock const there{*other, "r", long_ttl};
        lease one = co_await here.acquire_shared();
        lease two = co_await there.acquire_shared();
        lease three = co_await here.acquire_shared();
        BOOST_TEST((one.mode() == lock_mode::shared));
        BOOST_TEST(one.token() > 0u);
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"TYPE", "r"}) == "zset");
        auto [refused, none] = co_await there.try_acquire(asio::as_tuple);
        BOOST_TEST(refused == condition::contended);
        co_await one.release();
        co_await three.release();
        auto [still, nobody] = co_await here.try_acquire(asio::as_tuple);
        BOOST_TEST(still == condition::contended);
        co_await two.release();
        co_await other->drain();
        lease writer = co_await here.acquire();
        BOOST_TEST((writer.mode() == lock_mode::exclusive));
        BOOST_TEST(writer.token() > std::max(one.token(), two.token()));
        auto [read, no_reader] = co_await there.try_acquire_shared(asio::as_tuple);
        BOOST_TEST(read == condition::contended);
        co_await writer.release();
        lease after = co_await there.acquire_shared();
        BOOST_TEST(after.token() > writer.token());
        co_await after.release();
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(a_writer_that_waits_comes_before_later_readers, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        rw_lock const here{nodes, "r", steady};
        rw_lock const there{*other, "r", steady};
        lease reader = co_await here.acquire_shared();
        later writer;
        there.acquire(writer.handler());
        while (servers_with("r:want") < 3) co_await pause_for(5ms);
        auto [refused, none] = co_await here.try_acquire_shared(asio::as_tuple);
        BOOST_TEST(refused == errc::contended);
        later second;
        here.acquire_shared(second.handler());
        co_await pause_for(1'500ms);  // longer than a wish lasts, and the reader is extended
        BOOST_TEST(servers_with("r:want") == 3u);
        BOOST_TEST(!writer.ec.has_value());
        BOOST_TEST(!second.ec.has_value());
        BOOST_TEST(reader.valid());
        co_await reader.release();
        while (!writer.ec) co_await pause_for(5ms);
        BOOST_TEST(!*writer.ec);
        BOOST_TEST(!second.ec.has_value());
        auto released = writer.held.release(asio::use_awaitable);
        co_await std::move(released);
        while (!second.ec) co_await pause_for(5ms);
        BOOST_TEST(!*second.ec);
        BOOST_TEST(second.held.token() > writer.held.token());
        auto given_back = second.held.release(asio::use_awaitable);
        co_await std::move(given_back);
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(other_libraries_exclude_readers_and_are_excluded, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        rw_lock const both{nodes, "r", long_ttl};
        on_all({"SET", "r", "theirs", "NX", "PX", "20000"});
        auto [refused, none] = co_await both.try_acquire_shared(asio::as_tuple);
        BOOST_TEST(refused == errc::contended);
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"GET", "r"}) == "theirs");
        later reader;
        both.acquire_shared(reader.handler());
        co_await pause_for(100ms);
        BOOST_TEST(!reader.ec.has_value());
        on_all({"DEL", "r"});
        while (!reader.ec) co_await pause_for(5ms);
        BOOST_TEST(!*reader.ec);
        for (auto const& server : servers) BOOST_TEST(server.command({"SET", "r", "theirs", "NX", "PX", "20000"}) == "(nil)");
        auto released = reader.held.release(asio::use_awaitable);
        co_await std::move(released);
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
        // A sorted set that is none of ours is somebody else's lock, and stays as it is.
        on_all({"ZADD", "r", "1", "x"});
        auto [foreign, nothing] = co_await both.try_acquire_shared(asio::as_tuple);
        BOOST_TEST(foreign == errc::contended);
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"ZRANGE", "r", "0", "-1", "WITHSCORES"}) == "x\n1");
        on_all({"DEL", "r"});
    });
}

BOOST_FIXTURE_TEST_CASE(readers_are_extended_set_again_and_lost, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        rw_lock const both{nodes, "r", steady};
        std::vector<lease> all;
        for (int i = 0; i < 20; ++i) all.push_back(co_await both.acquire_shared());
        servers[0].command({"DEL", "r"});
        co_await pause_for(1s);
        BOOST_TEST(servers[0].command({"ZCARD", "r"}) == "21");
        BOOST_TEST(nodes.status().counters.recreated >= 20u);
        co_await pause_for(3s);  // longer than the ttl
        for (lease& each : all) BOOST_TEST(each.valid());
        on_all({"DEL", "r"});
        on_all({"SET", "r", "theirs"});
        auto waiting = all[7].wait_lost(asio::as_tuple(asio::use_awaitable));
        auto [why] = co_await std::move(waiting);
        BOOST_TEST(why == errc::lease_lost);
        all.clear();
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"GET", "r"}) == "theirs");
        on_all({"DEL", "r"});
    });
}

BOOST_FIXTURE_TEST_CASE(a_downgrade_lets_readers_in_and_no_writer, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        rw_lock const here{nodes, "r", steady};
        rw_lock const there{*other, "r", steady};
        lease held = co_await here.acquire();
        later reader;
        there.acquire_shared(reader.handler());
        co_await pause_for(50ms);
        BOOST_TEST(!reader.ec.has_value());
        auto down = held.downgrade(asio::use_awaitable);
        co_await std::move(down);
        BOOST_TEST((held.mode() == lock_mode::shared));
        while (!reader.ec) co_await pause_for(5ms);
        BOOST_TEST(!*reader.ec);
        BOOST_TEST(reader.held.token() > held.token());
        auto [refused, none] = co_await there.try_acquire(asio::as_tuple);
        BOOST_TEST(refused == condition::contended);
        auto released = reader.held.release(asio::use_awaitable);
        co_await std::move(released);
        co_await pause_for(1s);  // three extensions
        BOOST_TEST(held.valid());
        BOOST_TEST(held.nodes_held() == 3u);
        auto [still, nobody] = co_await there.try_acquire(asio::as_tuple);
        BOOST_TEST(still == errc::contended);
        co_await held.release();
        lease writer = co_await there.acquire();
        BOOST_TEST(writer.token() > reader.held.token());
        co_await writer.release();
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(cancelled_calls_and_stopped_clients_leave_no_key, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        rw_lock const here{nodes, "r", long_ttl};
        rw_lock const there{*other, "r", long_ttl};
        lease held = co_await here.acquire_shared();
        later writer;
        there.acquire(writer.handler());
        while (servers_with("r:want") < 3) co_await pause_for(5ms);
        writer.signal.emit(asio::cancellation_type::terminal);
        while (!writer.ec) co_await pause_for(1ms);
        BOOST_TEST(*writer.ec == asio::error::operation_aborted);
        while (servers_with("r:want") > 0) co_await pause_for(5ms);
        lease second = co_await there.acquire_shared();
        other->cancel();
        auto waiting = second.wait_lost(asio::as_tuple(asio::use_awaitable));
        auto [why] = co_await std::move(waiting);
        BOOST_TEST(why == errc::client_cancelled);
        BOOST_TEST(held.valid());
        // `second` goes with its client; `held` is released by its destructor, while the client runs
    });
}

BOOST_FIXTURE_TEST_CASE(a_dead_node_costs_nothing_and_gets_its_releases_later, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        rw_lock const both{nodes, "r", impatient};
        lease one = co_await both.acquire_shared();
        servers[2].stop();
        lease two = co_await both.acquire_shared();
        BOOST_TEST(two.valid());
        co_await one.release();
        co_await two.release();
        servers[2].resume();
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"EXISTS", "r"}) == "0");
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
