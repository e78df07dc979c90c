// The state that goes with a lock, on real servers: published, inherited, seen by others, and what lost servers do to it.
#include "support/cluster.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/steady_timer.hpp>

#include <optional>
#include <string>

namespace redlock::testing {
namespace {

constexpr lock_options steady{.ttl = 3s, .extend_interval = 300ms};

asio::awaitable<void> pause_for(std::chrono::milliseconds time)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, time};
    co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(published_states)

BOOST_FIXTURE_TEST_CASE(the_next_holder_inherits_it, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        redlock::lock const here{nodes, "job", long_ttl};
        redlock::lock const there{*other, "job", long_ttl};
        lease first = co_await here.acquire();
        published_state const nothing = co_await first.inherited();
        BOOST_TEST(!nothing);
        std::string const bytes{"row 17\0\r\n$5 \xff", 13};
        co_await first.publish(std::string{"row 1"});
        co_await first.publish(bytes);
        published_state const own = co_await first.inherited();
        BOOST_TEST(own.value == bytes);
        auto const token = first.token();
        co_await first.release();
        lease second = co_await there.acquire();
        published_state const inherited = co_await second.inherited();
        BOOST_TEST(inherited.value == bytes);
        BOOST_TEST(inherited.token == token);
        for (auto const& server : servers) {
            auto const left = std::stoll(server.command({"PTTL", "job:published"}));
            BOOST_TEST((left > 3'500'000 && left <= 3'600'000), left);
        }
        co_await second.publish(std::string(max_state_size, 'x'));
        published_state const large = co_await second.inherited();
        BOOST_TEST(large.value == std::string(max_state_size, 'x'));
        BOOST_TEST(large.token == second.token());
        co_await second.release();
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(what_one_server_keeps_is_written_back, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        redlock::lock const job{nodes, "job", long_ttl};
        lease first = co_await job.acquire();
        co_await first.publish(std::string{"x"});
        co_await first.release();
        co_await nodes.drain();
        servers[1].command({"DEL", "job:published"});
        servers[2].command({"DEL", "job:published"});
        lease second = co_await job.acquire();
        std::size_t found = 0;  // a majority of the servers need not be the one that has it
        for (int i = 0; i < 200 && found == 0; ++i) {
            published_state const state = co_await second.inherited();
            if (state.value == "x") ++found;
        }
        BOOST_TEST(found == 1u);
        for (int i = 0; i < 200 && servers_with("job:published") < 3; ++i) co_await pause_for(5ms);
        BOOST_TEST(servers_with("job:published") == 3u);
        co_await second.release();
    });
}

BOOST_FIXTURE_TEST_CASE(a_server_that_lost_it_gets_it_again_with_the_key, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        redlock::lock const job{nodes, "job", steady};
        lease held = co_await job.acquire();
        co_await held.publish(std::string{"x"});
        co_await nodes.drain();
        for (int i = 0; i < 200 && servers_with("job:published") < 3; ++i) co_await pause_for(5ms);
        servers[0].command({"DEL", "job", "job:published"});
        for (int i = 0; i < 400 && servers_with("job:published") < 3; ++i) co_await pause_for(5ms);
        BOOST_TEST(servers_with("job:published") == 3u);
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(others_see_it_and_are_told_of_changes, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        redlock::lock const here{nodes, "job", steady};
        redlock::lock const there{*other, "job", steady};
        lock_peek seen = co_await there.peek();
        BOOST_TEST(!seen.held);
        std::vector<lock_peek> all;
        asio::cancellation_signal stop;
        auto watch = [](redlock::lock lock, lock_peek last, std::vector<lock_peek>& into) -> asio::awaitable<void> {
            for (;;) {
                last = co_await lock.wait_changed(last);
                into.push_back(last);
            }
        };
        bool ended = false;
        asio::co_spawn(co_await asio::this_coro::executor, watch(there, seen, all),
                       asio::bind_cancellation_slot(stop.slot(), [&](std::exception_ptr) { ended = true; }));
        auto const until = [&](std::size_t count) -> asio::awaitable<void> {
            for (int i = 0; i < 400 && all.size() < count; ++i) co_await pause_for(5ms);
            BOOST_TEST_REQUIRE(all.size() == count);
        };
        co_await pause_for(50ms);
        lease held = co_await here.acquire();
        auto first = until(1);
        co_await std::move(first);
        BOOST_TEST(all[0].held);
        BOOST_TEST(all[0].pid == static_cast<std::uint64_t>(::getpid()));
        BOOST_TEST(!all[0].host.empty());
        co_await pause_for(1s);  // it is extended three times
        BOOST_TEST(all.size() == 1u);
        co_await held.publish(std::string{"10.0.0.1:80"});
        auto second = until(2);
        co_await std::move(second);
        BOOST_TEST(all[1].state.value == "10.0.0.1:80");
        BOOST_TEST(all[1].state.token == held.token());
        BOOST_TEST(all[1].is_holders);
        co_await held.release();
        auto third = until(3);
        co_await std::move(third);
        BOOST_TEST(!all[2].held);
        BOOST_TEST(all[2].state.value == "10.0.0.1:80");
        stop.emit(asio::cancellation_type::terminal);
        for (int i = 0; i < 400 && !ended; ++i) co_await pause_for(5ms);
        BOOST_TEST(ended);
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(a_lock_of_another_library_is_held_by_somebody, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        for (auto const& server : servers) server.command({"SET", "job", "theirs", "PX", "100000"});
        redlock::lock const job{nodes, "job", long_ttl};
        lock_peek const seen = co_await job.peek();
        BOOST_TEST(seen.held);
        BOOST_TEST(seen.host.empty());
        BOOST_TEST(!seen.state);
        for (auto const& server : servers) server.command({"DEL", "job"});
        for (auto const& server : servers) server.command({"HSET", "job", "a", "b"});
        lock_peek const hash = co_await job.peek();
        BOOST_TEST(hash.held);
        for (auto const& server : servers) server.command({"DEL", "job"});
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
