// An io_context that is destroyed with everything outstanding: handlers are destroyed, none is called, nothing leaks.
#include "support/cluster.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <memory>
#include <optional>

namespace redlock::testing {
namespace {

// Servers, and an io_context that can go before everything else.
struct doomed : cluster {
    explicit doomed(std::size_t size = 3) : cluster{size}
    {
        keys_may_stay = true;
        for (auto const& server : servers) settings.nodes.push_back(node_address::from_url(server.url()));
        context.emplace();
        client.emplace(context->get_executor(), settings);
        client->run(asio::detached);
    }

    void play(asio::awaitable<void> story)
    {
        std::exception_ptr failure;
        bool told = false;
        asio::co_spawn(*context, std::move(story), [&](std::exception_ptr thrown) {
            failure = thrown;
            told = true;
            context->stop();
        });
        context->run_for(10s);
        if (failure) std::rethrow_exception(failure);
        BOOST_TEST_REQUIRE(told);
    }

    // Counts itself in as long as it lives; being called is a mistake.
    auto uncalled_handler()
    {
        return [this, alive = life](auto&&...) { ++calls; };
    }

    config settings = quick_config();
    std::shared_ptr<int> life = std::make_shared<int>();
    int calls{0};
    std::optional<asio::io_context> context;
    std::optional<redlock::client> client;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(context)

BOOST_FIXTURE_TEST_CASE(destroyed_with_every_operation_outstanding, doomed)
{
    lease held, giving_back;
    auto story = [&]() -> asio::awaitable<void> {
        lock const resource{*client, "r", {.ttl = 20s, .node_timeout = 10s}};
        held = co_await resource.acquire();
        lock const beside{*client, "beside", {.ttl = 20s, .node_timeout = 10s}};
        giving_back = co_await beside.acquire();
        for (auto& server : servers) server.stop();
        lock const free{*client, "free", {.ttl = 20s, .node_timeout = 10s}};
        free.acquire(uncalled_handler());
        held.wait_lost(uncalled_handler());
        held.extend(uncalled_handler());
        giving_back.release(uncalled_handler());
        client->drain(uncalled_handler());
        co_await pause(50ms);
    };
    play(story());
    BOOST_TEST(life.use_count() == 6);
    context.reset();
    BOOST_TEST(life.use_count() == 1);
    BOOST_TEST(calls == 0);
    client.reset();
}

BOOST_FIXTURE_TEST_CASE(destroyed_with_coroutines_in_the_middle_of_everything, doomed)
{
    bool went_on = false;
    auto body = [&](lease&) -> asio::awaitable<void> {
        auto const keep = life;
        co_await pause(20s);
        went_on = true;
    };
    auto scope = [&]() -> asio::awaitable<void> {
        auto const keep = life;
        lock const resource{*client, "r", long_ttl};
        co_await with_lock(resource, body);
        went_on = true;
    };
    auto waits = [&]() -> asio::awaitable<void> {
        auto const keep = life;
        lock const resource{*client, "r", long_ttl};
        lease never = co_await resource.acquire();
        went_on = true;
    };
    auto holds = [&]() -> asio::awaitable<void> {
        auto const keep = life;
        lock const resource{*client, "mine", long_ttl};
        lease mine = co_await resource.acquire();
        co_await mine.wait_lost(asio::as_tuple);
        went_on = true;
    };
    auto story = [&]() -> asio::awaitable<void> {
        asio::co_spawn(*context, scope(), asio::detached);
        asio::co_spawn(*context, holds(), asio::detached);
        bool const both = co_await eventually([&] { return client->status().leases == 2; });
        BOOST_TEST(both);
        asio::co_spawn(*context, waits(), asio::detached);
        bool const in_line = co_await eventually([&] { return client->status().waiting == 1; });
        BOOST_TEST(in_line);
    };
    play(story());
    BOOST_TEST(life.use_count() == 5);  // the four coroutines
    context.reset();
    BOOST_TEST(life.use_count() == 1);
    BOOST_TEST(!went_on);
}

BOOST_FIXTURE_TEST_CASE(a_lease_and_a_lock_and_a_client_outlive_it, doomed)
{
    std::optional<lock> resource;
    lease held;
    auto story = [&]() -> asio::awaitable<void> {
        resource.emplace(*client, "r", lock_options{.ttl = 1s});
        held = co_await resource->acquire();
    };
    play(story());
    context.reset();
    BOOST_TEST(held.name() == "r");
    BOOST_TEST(client->status().nodes.size() == 3u);
    asio::io_context clock;
    auto wait = [&]() -> asio::awaitable<void> {
        bool const ended = co_await eventually([&] { return !held.valid(); });
        BOOST_TEST(ended, "nobody extends it any more");
    };
    asio::co_spawn(clock, wait(), asio::detached);
    clock.run();
    BOOST_TEST(held.lost_error() == errc::lease_lost);
    lease moved = std::move(held);
    moved = lease{};
    client->cancel();
    auto gone = std::move(client);
    gone.reset();
}

BOOST_FIXTURE_TEST_CASE(destroyed_while_connections_are_being_made, doomed)
{
    for (auto& server : servers) server.stop();
    config again = settings;
    again.nodes.push_back(node_address::from_url("redis://does-not-exist.invalid"));
    redlock::client second{context->get_executor(), again};
    second.run(asio::detached);
    auto story = [&]() -> asio::awaitable<void> { co_await pause(20ms); };
    play(story());
    context.reset();
}

BOOST_FIXTURE_TEST_CASE(destroyed_before_anything_ran, doomed)
{
    lock const resource{*client, "r", long_ttl};
    resource.acquire(uncalled_handler());
    context.reset();
    BOOST_TEST(life.use_count() == 1);
    BOOST_TEST(calls == 0);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
