#include "one_client.hpp"

#include <utility>

namespace redlock::testing {

cluster_reached::cluster_reached(std::size_t size, redis_server_options const& options, way_to const& way, config settings, beginning how)
    : cluster{size, settings, options, how}, reached_{std::move(settings)}
{
    for (auto const& server : servers) reached_.nodes.push_back(way(server));
    nodes = redlock::client{io.get_executor(), reached_};
}

std::unique_ptr<redlock::client> cluster_reached::another()
{
    auto c = std::make_unique<redlock::client>(io.get_executor(), reached_);
    start(*c);
    return c;
}

asio::awaitable<void> cluster_reached::lock_everywhere(std::string name)
{
    lock const resource{nodes, name, long_ttl};
    auto acquire = resource.acquire();
    lease held = co_await std::move(acquire);
    auto held_by_all = eventually([&] { return held.nodes_held() == servers.size(); });
    bool const everywhere = co_await std::move(held_by_all);
    BOOST_TEST(everywhere);
    BOOST_TEST(servers_with(name) == servers.size());
    auto extend = held.extend();
    co_await std::move(extend);
    auto release = held.release();
    co_await std::move(release);
}

asio::awaitable<void> cluster_reached::fail(errc why, std::string_view words)
{
    auto failing = eventually([&] { return first().last_error == why; });
    bool const failed = co_await std::move(failing);
    BOOST_TEST(failed, first().last_error.message() << ": " << first().last_error_text);
    BOOST_TEST(first().last_error_text.find(words) != std::string::npos, first().last_error_text);
    BOOST_TEST(first().last_error == condition::node_failure);
}

void cluster_reached::expect_locks()
{
    run([this] { return lock_everywhere(); });
}

void cluster_reached::expect_failure(errc why, std::string_view words)
{
    usable_at_start = 0;
    run([&]() -> asio::awaitable<void> {
        auto failing = fail(why, words);
        co_await std::move(failing);
        BOOST_TEST(first().connects == 0u);
    });
}

}  // namespace redlock::testing
