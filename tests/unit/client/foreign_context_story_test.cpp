// A caller's io_context that is destroyed while its operations are under way in a client on another one: as docs/threading.md recommends where handlers
// may block. The simulation's context is the client's.
#include <redlock/redlock.hpp>
#include <redlock/testing.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

struct callers_context {
    // Both contexts, in turns, for so long of virtual time.
    void run_for(clock::duration time)
    {
        for (clock::duration done{}; done < time; done += 10ms) {
            other->poll();
            other->restart();
            sim.run_for(10ms);
        }
    }

    // Counts itself in as long as it lives; being called is a mistake.
    auto uncalled()
    {
        return asio::bind_executor(asio::make_strand(*other), [this, keep = life](auto&&...) { ++calls; });
    }

    void destroy()
    {
        other.reset();
        BOOST_TEST(life.use_count() == 1);
        sim.run_for(60s);
        BOOST_TEST(calls == 0);
    }

    std::shared_ptr<int> life = std::make_shared<int>();
    int calls{0};
    simulation sim;
    std::optional<asio::io_context> other{std::in_place};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(foreign_context)

BOOST_FIXTURE_TEST_CASE(destroyed_with_every_operation_under_way, callers_context)
{
    lock const a{sim.client(), "a"}, b{sim.client(), "b"};
    lease held;
    a.acquire(asio::bind_executor(*other, [&](error_code ec, lease won) {
        BOOST_TEST(!ec, ec.message());
        held = std::move(won);
    }));
    run_for(1s);
    BOOST_TEST_REQUIRE(held.valid());
    sim.hold_elsewhere("b", 10s);
    b.acquire(uncalled());
    a.acquire(uncalled());
    held.wait_lost(uncalled());
    held.extend(uncalled());
    auto report = std::make_unique<attempt_report>();
    auto& written = *report;
    b.acquire(written, asio::bind_executor(*other, [this, keep = life, mine = std::move(report)](error_code, lease) { ++calls; }));
    sim.client().drain(uncalled());
    BOOST_TEST(life.use_count() > 5);
    destroy();
    BOOST_TEST(held.valid());
    held = lease{};
    sim.run_for(1s);
    BOOST_TEST(!sim.holder("a"));
}

BOOST_FIXTURE_TEST_CASE(destroyed_with_scopes_that_wait_and_scopes_that_hold, callers_context)
{
    bool went_on = false;
    auto body = [&](lease&) -> asio::awaitable<void> {
        auto const keep = life;
        asio::steady_timer forever{co_await asio::this_coro::executor, std::chrono::hours{1}};
        auto waiting = forever.async_wait(asio::use_awaitable);
        co_await std::move(waiting);
        went_on = true;
    };
    auto scope = [&](std::string name) -> asio::awaitable<void> {
        auto const keep = life;
        lock const resource{sim.client(), std::move(name)};
        auto locked = with_lock(resource, body);
        co_await std::move(locked);
        went_on = true;
    };
    sim.hold_elsewhere("b", 10s);
    for (char const* name : {"a", "a", "b"}) asio::co_spawn(*other, scope(name), asio::detached);
    run_for(1s);
    BOOST_TEST(sim.client().status().leases == 1u);
    BOOST_TEST(sim.client().status().waiting == 2u);
    destroy();
    BOOST_TEST(!went_on);
    BOOST_TEST(sim.client().status().leases == 0u);
    BOOST_TEST(sim.client().status().waiting == 0u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
