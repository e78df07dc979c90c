// A client of several sets of real servers: locks are spread, exclude each other, and one set that is down stops its own locks only.
#include "support/cluster.hpp"

#include <boost/asio/co_spawn.hpp>

#include <array>
#include <cstddef>
#include <deque>
#include <exception>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

constexpr std::size_t shard_count = 3;

struct three_shards {
    three_shards()
    {
        for (auto const& server : servers) admit(server);
    }

    config settings() const
    {
        config c = quick_config();
        for (std::size_t s = 0; s < shard_count; ++s) {
            auto& set = c.shards.emplace_back();
            for (std::size_t n = 0; n < 3; ++n) set.push_back(node_address::from_url(servers[3 * s + n].url()));
        }
        return c;
    }

    void run(std::function<asio::awaitable<void>(redlock::client&)> const& tell)
    {
        redlock::client nodes{io.get_executor(), settings()};
        std::exception_ptr failure;
        error_code ended;
        nodes.run([&](error_code ec) { ended = ec; });
        asio::co_spawn(io, tell(nodes), [&](std::exception_ptr e) {
            failure = e;
            nodes.cancel();
        });
        io.run_for(std::chrono::seconds{30});
        if (failure) std::rethrow_exception(failure);
        BOOST_TEST(ended == errc::client_cancelled);
    }

    // On how many servers of each shard the key is.
    std::vector<std::size_t> places_of(std::string const& key) const
    {
        std::vector<std::size_t> count(shard_count);
        for (std::size_t i = 0; i < servers.size(); ++i)
            if (servers[i].pid() > 0) count[i / 3] += servers[i].command({"EXISTS", key}) == "1";
        return count;
    }

    std::deque<redis_server> servers = std::deque<redis_server>(3 * shard_count);
    asio::io_context io;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(shards)

BOOST_FIXTURE_TEST_CASE(locks_are_spread_and_each_is_in_one_set, three_shards)
{
    run([&](redlock::client& nodes) -> asio::awaitable<void> {
        std::vector<std::size_t> held(shard_count);
        for (int i = 0; i < 30; ++i) {
            auto const name = "job:" + std::to_string(i);
            redlock::lock const job{nodes, name, long_ttl};
            lease one = co_await job.acquire();
            auto const [refused, none] = co_await job.try_acquire(asio::as_tuple);
            BOOST_TEST(refused == errc::contended);
            std::size_t sets = 0;
            auto const places = places_of(name);
            for (std::size_t s = 0; s < shard_count; ++s) {
                if (places[s] == 0) continue;
                ++sets;
                ++held[s];
                BOOST_TEST(places[s] >= 2u);
            }
            BOOST_TEST(sets == 1u);
            co_await one.release();
        }
        for (std::size_t s = 0; s < shard_count; ++s) BOOST_TEST(held[s] > 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(a_set_that_is_down_stops_its_own_locks_only, three_shards)
{
    run([&](redlock::client& nodes) -> asio::awaitable<void> {
        co_await (redlock::lock{nodes, "a", long_ttl}.acquire());
        for (std::size_t n = 0; n < 3; ++n) servers[n].kill();
        std::size_t acquired = 0, unavailable = 0;
        for (int i = 0; i < 12; ++i) {
            redlock::lock const job{nodes,
                                    "job:" + std::to_string(i),
                                    {.ttl = std::chrono::seconds{20}, .acquire_timeout = std::chrono::milliseconds{300}}};
            auto [ec, l] = co_await job.acquire(asio::as_tuple);
            if (!ec) ++acquired;
            if (ec == errc::acquire_timed_out_no_majority) ++unavailable;
        }
        BOOST_TEST(acquired + unavailable == 12u);
        BOOST_TEST(acquired > 0u);
        BOOST_TEST(unavailable > 0u);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
