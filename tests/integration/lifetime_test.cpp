// Who may go before whom: clients, leases, scopes, operations and the io_context, in every order.
#include "support/child_process.hpp"
#include "support/cluster.hpp"

#include <boost/asio/cancel_after.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/prefer.hpp>

#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(lifetime)

BOOST_AUTO_TEST_CASE(a_client_may_be_used_after_main_has_returned)
{
    redis_server const server;
    auto const log = server.folder() / "ending.log";
    child_process child{REDLOCK_ENDING_CHILD, {server.url()}, log};
    auto const code = child.wait(20s);
    std::ifstream file{log};
    std::string const said{std::istreambuf_iterator<char>{file}, {}};
    BOOST_TEST(code.value_or(-1) == 0, said);
    BOOST_TEST(said.ends_with("used after main\n"), said);
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_outlives_its_client_is_lost, three_nodes)
{
    keys_may_stay = true;
    run([&]() -> asio::awaitable<void> {
        auto other = another_client();
        lock const resource{*other, "r", {.ttl = 2s}};
        lease held = co_await resource.acquire();
        other.reset();
        auto [why] = co_await held.wait_lost(asio::as_tuple);
        BOOST_TEST(why == errc::client_cancelled);
        BOOST_TEST(why == condition::lost);
        BOOST_TEST(!held.valid());
        bool const ended = co_await eventually([&] { return clients_running() == 1; });
        BOOST_TEST(ended, "a lease object does not keep its client running");

        auto [extended] = co_await held.extend(asio::as_tuple);
        BOOST_TEST(extended == errc::client_cancelled);
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(released == errc::client_cancelled);
        auto [acquired, nothing] = co_await resource.acquire(asio::as_tuple);
        BOOST_TEST(acquired == errc::client_cancelled);
        bool const expired = co_await eventually([&] { return servers_with("r") == 0; });
        BOOST_TEST(expired);
    });
}

// At whatever step of making its connections: Boost.Redis (1.88) goes on with the next one when it is cancelled in between.
BOOST_AUTO_TEST_CASE(a_client_that_is_cancelled_while_it_connects_ends)
{
    redis_server const server;
    config settings = quick_config();
    settings.nodes = {node_address::from_url(server.url())};
    bool connected = false;
    for (int steps = 0; steps < 60 && !connected; ++steps) {
        asio::io_context io;
        redlock::client nodes{io.get_executor(), settings};
        bool ended = false;
        nodes.run([&](error_code) { ended = true; });
        for (int step = 0; step < steps; ++step) io.run_one_for(50ms);
        connected = nodes.status().nodes[0].state == node_state::usable;
        nodes.cancel();
        io.run_for(2s);
        BOOST_TEST(ended, "cancelled after step " << steps);
        if (!ended) break;
    }
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_goes_right_after_its_client_is_given_back, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto other = another_client();
        lock const resource{*other, "r", long_ttl};
        lease held = co_await resource.acquire();
        other.reset();
        held = lease{};
        bool const given_back = co_await eventually([&] { return servers_with("r") == 0; });
        BOOST_TEST(given_back);
        bool const ended = co_await eventually([&] { return clients_running() == 1; });
        BOOST_TEST(ended);
    });
}

BOOST_FIXTURE_TEST_CASE(a_scope_ends_with_its_client_and_gives_the_lock_back, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto other = another_client();
        lock const resource{*other, "r", long_ttl};
        error_code in_the_body;
        auto body = [&](lease&) -> asio::awaitable<void> {
            other->cancel();
            asio::steady_timer timer{co_await asio::this_coro::executor, 20s};
            auto [ec] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
            in_the_body = ec;
        };
        error_code ended;
        try {
            co_await with_lock(resource, body);
        } catch (system_error const& e) {
            ended = e.code();
        }
        BOOST_TEST(in_the_body == asio::error::operation_aborted);
        BOOST_TEST(!ended, "the body returned while the nodes kept the lock: " << ended.message());
        stopwatch watch;
        bool const given_back = co_await eventually([&] { return servers_with("r") == 0; });
        BOOST_TEST(given_back);
        bool const stopped = co_await eventually([&] { return clients_running() == 1; });
        BOOST_TEST(stopped);
        BOOST_TEST(watch.ms() < 2'000);
    });
}

BOOST_FIXTURE_TEST_CASE(acquisitions_end_with_their_client_and_leave_nothing, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto other = another_client();
        bool const ready = co_await eventually([&] { return other->status().nodes[1].state == node_state::usable; });
        BOOST_TEST(ready);
        lock const holder{nodes, "taken", long_ttl};
        lease held = co_await holder.acquire();
        servers[0].stop();
        servers[1].stop();
        lock const undecided{*other, "r", {.ttl = 20s, .node_timeout = 10s}};
        lock const waiting{*other, "taken", {.ttl = 20s, .node_timeout = 50ms, .min_retry_delay = 10s, .max_retry_delay = 10s}};
        std::vector<error_code> ends;
        undecided.acquire([&](error_code ec, lease) { ends.push_back(ec); });
        waiting.acquire([&](error_code ec, lease) { ends.push_back(ec); });
        co_await pause(100ms);
        BOOST_TEST(ends.empty());
        BOOST_TEST(other->status().waiting == 2u);

        stopwatch watch;
        other->cancel();
        bool const completed = co_await eventually([&] { return ends.size() == 2; });
        BOOST_TEST_REQUIRE(completed);
        BOOST_TEST(watch.ms() < 1'000);
        for (auto const& ec : ends) BOOST_TEST(ec == errc::client_cancelled);
        bool const stopped = co_await eventually([&] { return clients_running() == 1; });
        BOOST_TEST(stopped);
        BOOST_TEST(watch.ms() < 2'500, "half a second for the releases");
        servers[0].resume();
        servers[1].resume();
    });
}

BOOST_FIXTURE_TEST_CASE(a_client_that_never_ran_can_be_cancelled, one_node)
{
    run([&]() -> asio::awaitable<void> {
        config settings = quick_config();
        settings.nodes.push_back(node_address::from_url(servers[0].url()));
        redlock::client idle{io.get_executor(), settings};
        lock const resource{idle, "r", long_ttl};
        std::optional<error_code> ended;
        resource.acquire([&](error_code ec, lease) { ended = ec; });
        co_await pause(10ms);
        BOOST_TEST(!ended.has_value());
        idle.cancel();
        idle.cancel();
        bool const completed = co_await eventually([&] { return ended.has_value(); });
        BOOST_TEST_REQUIRE(completed);
        BOOST_TEST(*ended == errc::client_cancelled);
        auto [ran] = co_await idle.run(asio::as_tuple);
        BOOST_TEST(ran == errc::client_cancelled);
        auto [drained] = co_await idle.drain(asio::as_tuple);
        BOOST_TEST(drained == errc::client_cancelled);
    });
}

BOOST_FIXTURE_TEST_CASE(an_acquisition_may_be_started_before_its_client, one_node)
{
    lock const resource{nodes, "r", long_ttl};
    std::optional<error_code> ended;
    lease held;
    resource.acquire([&](error_code ec, lease got) {
        ended = ec;
        held = std::move(got);
    });
    run([&]() -> asio::awaitable<void> {
        bool const completed = co_await eventually([&] { return ended.has_value(); });
        BOOST_TEST_REQUIRE(completed);
        BOOST_TEST(!*ended);
        BOOST_TEST(held.valid());
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(run_is_cancelled_like_any_operation, one_node)
{
    run([&]() -> asio::awaitable<void> {
        config settings = quick_config();
        settings.nodes.push_back(node_address::from_url(servers[0].url()));
        redlock::client other{io.get_executor(), settings};
        auto [ran] = co_await other.run(asio::cancel_after(200ms, asio::as_tuple(asio::deferred)));
        BOOST_TEST(ran == errc::client_cancelled);
    });
}

BOOST_FIXTURE_TEST_CASE(drain_waits_for_what_destroyed_leases_owe, five_nodes)
{
    run([&]() -> asio::awaitable<void> {
        std::vector<lease> held;
        for (int i = 0; i < 100; ++i) {
            lock const resource{nodes, "r" + std::to_string(i), long_ttl};
            lease one = co_await resource.acquire();
            held.push_back(std::move(one));
        }
        BOOST_TEST(nodes.status().leases == 100u);
        held.clear();
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(lock_keys(server).empty());
        BOOST_TEST(nodes.status().releases_pending == 0u);
        co_await nodes.drain();
    });
}

BOOST_FIXTURE_TEST_CASE(drain_can_be_given_up, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", impatient};
        lease held = co_await resource.acquire();
        servers[2].stop();
        co_await held.release();
        auto [ec] = co_await nodes.drain(asio::cancel_after(100ms, asio::as_tuple(asio::deferred)));
        BOOST_TEST(ec == asio::error::operation_aborted);
        BOOST_TEST(nodes.status().releases_pending == 1u);
        servers[2].resume();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

// Whatever a client leaves behind: nothing of it stays alive once it has ended and its leases are gone. The client's executor
// counts as work, so the io_context runs out of work only when nothing keeps the executor any more.
BOOST_FIXTURE_TEST_CASE(a_client_that_has_ended_keeps_nothing_alive, three_nodes)
{
    keys_may_stay = true;
    config settings = quick_config();
    for (auto const& server : servers) settings.nodes.push_back(node_address::from_url(server.url()));
    auto client = std::make_unique<redlock::client>(asio::prefer(asio::any_io_executor{io.get_executor()},
                                                                 asio::execution::outstanding_work.tracked),
                                                    settings);
    start(*client);
    auto story = [&]() -> asio::awaitable<void> {
        auto const third = [&] { return client->status().nodes[2].state; };
        bool const ready = co_await eventually([&] { return third() == node_state::usable; });
        BOOST_TEST(ready);
        lock const resource{*client, "r", impatient};
        lock const another{*client, "another", impatient};
        lease first = co_await resource.acquire();
        lease second = co_await another.acquire();
        servers[2].kill();
        bool const noticed = co_await eventually([&] { return third() == node_state::down; });
        BOOST_TEST(noticed);
        co_await first.release();  // and it is owed to the node that is down
        client.reset();
        bool const ended = co_await eventually([&] { return clients_running() == 0; });
        BOOST_TEST(ended);
        second = lease{};  // nobody is left who could give it back
    };
    asio::co_spawn(io, story(), [](std::exception_ptr thrown) {
        if (thrown) std::rethrow_exception(thrown);
    });
    io.run_for(10s);
    BOOST_TEST(io.stopped(), "something of the client is still alive");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
