// Two thousand scopes at once, while servers are stopped and killed one after another, and for a moment most of them at once.
#include "support/cluster.hpp"
#include "support/scopes.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <map>
#include <random>

namespace redlock::testing {
namespace {

constexpr std::size_t scopes_per_client = 1'000;
constexpr std::size_t names = 300;
constexpr std::size_t max_queue = 4'096;
constexpr lock_options options{.ttl = 6s, .node_timeout = 300ms, .acquire_timeout = 4s};

redis_server_options persistent()
{
    redis_server_options o;
    o.appendonly = true;
    return o;
}

config with_bounded_queues()
{
    config c = quick_config();
    c.max_node_queue = max_queue;
    return c;
}

// The server kept its data, but has a new id: it may vote again, as if the drain were over.
void admit_again(redis_server const& server)
{
    server.command({"EVAL", "redis.call('SET', KEYS[1], ARGV[1] .. string.sub(redis.call('GET', KEYS[1]), 41))", "1", "redlock:node",
                    replication_id(server)});
}

// What became of the scopes, and the most that ever waited.
struct ledger {
    bool flapping{true};
    std::size_t running{0};
    std::size_t bodies{0};
    std::array<int, names> inside{};
    std::size_t overlaps{0};
    std::map<std::string, std::size_t> ends;
    std::size_t max_waiting{0}, max_releases{0};
};

struct crowded : cluster {
    crowded() : cluster{5, with_bounded_queues(), persistent()} {}

    // One after the other, until there are enough; each scope is one of many who want the same name.
    asio::awaitable<void> scopes(redlock::client& c, std::size_t seed)
    {
        std::minstd_rand random{static_cast<unsigned>(seed + 1)};
        do {
            std::size_t const name = random() % names;
            auto const body = [this, name, hold = std::chrono::milliseconds{5 + random() % 40}](lease&) -> asio::awaitable<void> {
                ++seen.bodies;
                seen.overlaps += seen.inside[name]++ != 0;
                asio::steady_timer timer{co_await asio::this_coro::executor, hold};
                auto [ec] = co_await timer.async_wait(asio::as_tuple(asio::use_awaitable));
                --seen.inside[name];
                if (ec) throw system_error{ec};
            };
            auto scope = end_of_scope(lock{c, "name:" + std::to_string(name), options}, body);
            auto const ended = co_await std::move(scope);
            ++seen.ends[ended ? ended.message() : "ended well"];
            bool const documented = ended == condition::timed_out || ended == errc::lease_lost || ended == errc::release_unconfirmed;
            if (ended && !documented) ++undocumented;
        } while (seen.flapping);
        --seen.running;
    }

    // `how` happens to these servers, and after a while it is over.
    enum class fault : std::uint8_t { stop, kill };
    asio::awaitable<void> suffer(fault what, std::vector<std::size_t> of, std::chrono::milliseconds for_so_long)
    {
        for (std::size_t const i : of) {
            if (what == fault::stop) servers[i].stop();
            else servers[i].kill();
        }
        auto while_it_lasts = pause(for_so_long);
        co_await std::move(while_it_lasts);
        for (std::size_t const i : of) {
            if (what == fault::stop) {
                servers[i].resume();
            } else {
                servers[i].restart();
                admit_again(servers[i]);
            }
        }
        auto back = eventually([this] { return usable() == servers.size(); });
        bool const all_back = co_await std::move(back);
        BOOST_TEST(all_back);
    }

    asio::awaitable<void> watch(std::vector<redlock::client*> clients)
    {
        while (seen.running > 0) {
            for (auto* const c : clients) {
                auto const state = c->status();
                seen.max_waiting = std::max(seen.max_waiting, state.waiting);
                seen.max_releases = std::max(seen.max_releases, state.releases_pending);
            }
            auto moment = pause(10ms);
            co_await std::move(moment);
        }
    }

    ledger seen;
    std::size_t undocumented{0};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(load)

BOOST_FIXTURE_TEST_CASE(two_thousand_scopes_end_well_or_with_clear_errors_while_nodes_flap, crowded)
{
    stopwatch total;
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client(with_bounded_queues());
        std::vector<redlock::client*> const clients{&nodes, other.get()};
        auto const strand = co_await asio::this_coro::executor;
        for (std::size_t i = 0; i < 2 * scopes_per_client; ++i) {
            ++seen.running;
            asio::co_spawn(strand, scopes(*clients[i % 2], i), asio::detached);
        }
        asio::co_spawn(strand, watch(clients), asio::detached);

        for (std::size_t i = 0; i < servers.size(); ++i) {
            auto one = suffer(i % 2 == 0 ? fault::stop : fault::kill, {i}, 500ms);
            co_await std::move(one);
        }
        auto two = suffer(fault::kill, {0, 3}, 300ms);
        co_await std::move(two);
        auto most = suffer(fault::stop, {1, 2, 4}, 1s);
        co_await std::move(most);
        auto most_again = suffer(fault::kill, {0, 1, 2}, 500ms);
        co_await std::move(most_again);

        seen.flapping = false;
        auto ends = eventually([&] { return seen.running == 0; }, 10s);
        bool const all_ended = co_await std::move(ends);
        BOOST_TEST(all_ended, seen.running << " scopes did not end");
        for (auto* const c : clients) {
            auto drained = c->drain();
            co_await std::move(drained);
            auto const state = c->status();
            BOOST_TEST(state.leases == 0u);
            BOOST_TEST(state.waiting == 0u);
            BOOST_TEST(state.releases_pending == 0u);
        }
        auto const a = nodes.status().counters, b = other->status().counters;
        BOOST_TEST(a.acquired + b.acquired == seen.bodies);
        for (auto const& c : {a, b}) BOOST_TEST(c.acquired == c.handoffs + c.released + c.releases_unconfirmed + c.leases_lost);
        other->cancel();
    });
    BOOST_TEST(undocumented == 0u);
    BOOST_TEST(seen.overlaps == 0u);
    BOOST_TEST(seen.bodies > 2 * scopes_per_client);
    BOOST_TEST(seen.max_waiting <= scopes_per_client);
    BOOST_TEST(seen.max_releases <= max_queue);
    BOOST_TEST(total.ms() < 20'000);
    for (auto const& [end, count] : seen.ends) BOOST_TEST_MESSAGE(count << " scopes: " << end);
    BOOST_TEST_MESSAGE(seen.bodies << " bodies, at most " << seen.max_waiting << " waiting and " << seen.max_releases << " releases, "
                                   << total.ms() << " ms");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
