// Semaphores on real servers: as many as there are permits, waiting and waking, extension, the record, second rounds, and a change of the number.
#include "support/cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

constexpr lock_options steady_permits{.ttl = 3s, .extend_interval = 300ms};

semaphore_options of(std::uint32_t permits, lock_options const& lock = long_ttl) { return {.permits = permits, .lock = lock}; }

struct permit_call {
    std::optional<error_code> ec;
    lease held;

    auto handler()
    {
        return [this](error_code e, lease l) {
            ec = e;
            held = std::move(l);
        };
    }
};

asio::awaitable<void> let_pass(std::chrono::milliseconds time)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, time};
    co_await timer.async_wait(asio::use_awaitable);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(semaphores)

BOOST_FIXTURE_TEST_CASE(so_many_hold_permits_as_there_are, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        semaphore const here{nodes, "s", of(3)};
        semaphore const there{*other, "s", of(3)};
        std::vector<lease> held;
        held.push_back(co_await here.acquire());
        held.push_back(co_await there.acquire());
        held.push_back(co_await there.acquire());
        std::set<std::uint32_t> slots;
        for (lease const& l : held) slots.insert(l.slot().value());
        BOOST_TEST(slots.size() == 3u);
        auto [refused, none] = co_await here.try_acquire(asio::as_tuple);
        BOOST_TEST((refused == condition::contended));
        auto [ec, free] = co_await here.available(asio::as_tuple);
        BOOST_TEST(!ec);
        BOOST_TEST(free == 0u);
        BOOST_TEST(value(0, "s:permits") == "1 3");
        auto const token = held[1].token();
        auto const slot = *held[1].slot();
        co_await held[1].release();
        lease next = co_await here.acquire();
        BOOST_TEST(*next.slot() == slot);
        BOOST_TEST(next.token() > token);
        co_await next.release();
        co_await held[0].release();
        co_await held[2].release();
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(who_waits_is_woken_by_a_release_and_keeps_waiting_beside_extensions, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        semaphore const here{nodes, "s", of(2, steady_permits)};
        semaphore const there{*other, "s", of(2, steady_permits)};
        lease one = co_await here.acquire();
        lease two = co_await here.acquire();
        permit_call waits;
        there.acquire(waits.handler());
        co_await let_pass(1'500ms);
        BOOST_TEST(!waits.ec.has_value());
        BOOST_TEST(one.valid());
        auto const began = std::chrono::steady_clock::now();
        co_await two.release();
        while (!waits.ec) co_await let_pass(1ms);
        BOOST_TEST(!*waits.ec);
        BOOST_TEST((std::chrono::steady_clock::now() - began < 1s));  // and not at the next poll
        auto given_back = waits.held.release(asio::use_awaitable);
        co_await std::move(given_back);
        co_await one.release();
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(several_permits_are_all_or_none, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        semaphore const s{nodes, "s", of(4)};
        lease three = co_await s.acquire(3);
        BOOST_TEST(three.slots().size() == 3u);
        auto [refused, none] = co_await s.try_acquire(2, asio::as_tuple);
        BOOST_TEST(refused == errc::contended);
        lease one = co_await s.acquire();
        co_await three.extend();
        auto everywhere = eventually([&] { return three.nodes_held() == 3; }, 5s);  // a majority has answered, and the third follows
        bool const is_everywhere = co_await std::move(everywhere);
        BOOST_TEST(is_everywhere);
        auto [never, nothing] = co_await s.acquire(5, asio::as_tuple);
        BOOST_TEST(never == errc::too_many_permits);
        co_await three.release();
        lease two = co_await s.acquire(2);
        co_await two.release();
        co_await one.release();
    });
}

BOOST_FIXTURE_TEST_CASE(the_record_outlives_no_use_and_is_kept_by_extensions, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        semaphore const s{nodes, "s", of(2, steady_permits)};
        lease held = co_await s.acquire();
        on_all({"DEL", "s:permits"});
        servers[0].command({"DEL", std::string{held.name()}});
        auto there = eventually([&] { return servers_with("s:permits") == 3 && servers_with(std::string{held.name()}) == 3; }, 5s);
        bool const is_there = co_await std::move(there);
        BOOST_TEST(is_there);
        auto const other = another_client();
        attempt_report report;
        semaphore const more{*other, "s", of(3)};
        auto [ec, none] = co_await more.acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::permits_differ);
        BOOST_TEST(report.nodes.front().detail == "it keeps 2");
        co_await held.release();
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(the_number_of_permits_is_changed_while_they_are_held, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        semaphore const four{nodes, "s", of(4)};
        std::vector<lease> held;
        for (int i = 0; i < 4; ++i) held.push_back(co_await four.acquire());
        bool changed = false;
        asio::co_spawn(co_await asio::this_coro::executor, change_permits(*other, "s", 2), [&](std::exception_ptr e) { changed = !e; });
        while (servers_with("s:permits") < 3 || value(0, "s:permits") != "2 2") co_await let_pass(1ms);
        co_await let_pass(200ms);
        BOOST_TEST(!changed);
        auto const third = another_client();
        semaphore const former{*third, "s", of(4)};
        auto [refused, none] = co_await former.try_acquire(asio::as_tuple);
        BOOST_TEST(refused == errc::permits_differ);
        third->cancel();
        for (lease& l : held)
            if (*l.slot() >= 2) co_await l.release();
        while (!changed) co_await let_pass(1ms);
        semaphore const two{*other, "s", of(2)};
        auto [full, nobody] = co_await two.try_acquire(asio::as_tuple);
        BOOST_TEST(full == condition::contended);
        for (lease& l : held)
            if (l.valid()) co_await l.release();
        lease after = co_await two.acquire();
        co_await after.release();
        other->cancel();
    });
}

// Four clients at once on eight free permits: the goal is one round in nine of ten acquisitions.
BOOST_FIXTURE_TEST_CASE(one_round_is_nearly_always_enough_when_permits_are_free, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        std::vector<std::unique_ptr<redlock::client>> clients;
        for (int i = 0; i < 4; ++i) clients.push_back(another_client());
        for (auto const& c : clients) {
            semaphore const s{*c, "s", of(8)};
            lease l = co_await s.acquire();
            co_await l.release();
        }
        std::uint64_t attempts = 0, moves = 0, acquired = 0;
        for (int round = 0; round < 200; ++round) {
            std::vector<attempt_report> reports(clients.size());
            std::vector<permit_call> calls(clients.size());
            for (std::size_t i = 0; i < clients.size(); ++i) semaphore{*clients[i], "s", of(8)}.acquire(reports[i], calls[i].handler());
            auto all = eventually(
                [&] { return std::all_of(calls.begin(), calls.end(), [](permit_call const& c) { return c.ec.has_value(); }); }, 5s);
            bool const done = co_await std::move(all);
            BOOST_REQUIRE(done);
            std::set<std::uint32_t> slots;
            for (std::size_t i = 0; i < clients.size(); ++i) {
                BOOST_REQUIRE(!*calls[i].ec);
                slots.insert(calls[i].held.slot().value());
                attempts += reports[i].attempts;
                ++acquired;
            }
            BOOST_TEST(slots.size() == clients.size());
            for (permit_call& c : calls) {
                auto given_back = c.held.release(asio::use_awaitable);
                co_await std::move(given_back);
            }
        }
        for (auto const& c : clients) moves += c->status().counters.permit_moves;
        auto const more = static_cast<double>(moves + attempts - acquired) / static_cast<double>(acquired);
        BOOST_TEST_MESSAGE("one round: " << 1 - more << ", second rounds: " << moves << ", attempts: " << attempts << " of " << acquired);
        BOOST_TEST(more < 0.1);
        for (auto const& c : clients) c->cancel();
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
