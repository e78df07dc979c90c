// What one bad node costs a client: memory, connections and questions.
#include "support/cluster.hpp"
#include "support/command_stats.hpp"
#include "support/growth.hpp"
#include "support/mentions.hpp"
#include "support/replicated.hpp"

#include "quorum/sets/set_record.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace redlock::testing {
namespace {

config with_patience()
{
    config c = quick_config();
    c.stall_timeout = 60s;
    return c;
}

// Callers who take locks of their own, one after the other, whatever comes of it.
class busy_callers {
public:
    static constexpr std::size_t many = 256;

    busy_callers(redlock::client& nodes, lock_options const& options) : nodes_{nodes}, options_{options} {}

    void start(asio::any_io_executor const& on)
    {
        for (std::size_t i = 0; i < many; ++i) asio::co_spawn(on, call(i), asio::detached);
    }
    void stop() noexcept { going_ = false; }

    std::size_t running{0};
    std::size_t turns{0};
    std::size_t acquired{0};

private:
    asio::awaitable<void> call(std::size_t number)
    {
        ++running;
        redlock::lock const resource{nodes_, "lock:" + std::to_string(number), options_};
        while (going_) {
            auto trying = resource.try_acquire(asio::as_tuple(asio::use_awaitable));
            auto [ec, held] = co_await std::move(trying);
            ++turns;
            if (ec) continue;
            ++acquired;
            auto releasing = held.release(asio::as_tuple(asio::use_awaitable));
            co_await std::move(releasing);
        }
        --running;
    }

    redlock::client& nodes_;
    lock_options options_;
    bool going_{true};
};

struct patient_nodes : cluster {
    patient_nodes() : cluster{3, with_patience()} {}
};

struct one_that_waits_for_a_replica : replicated {
    one_that_waits_for_a_replica() : replicated{"?replicas=1", 1, quick_config(), {}, beginning::empty} {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(bad_node)

BOOST_FIXTURE_TEST_CASE(a_hung_node_costs_little_memory_and_no_connection, patient_nodes)
{
    constexpr std::size_t warm = 4'000, measured = 16'000;
    run([&]() -> asio::awaitable<void> {
        busy_callers callers{nodes, {.ttl = 20s, .node_timeout = 5s}};
        servers[2].stop();
        callers.start(co_await asio::this_coro::executor);
        bool const is_warm = co_await eventually([&] { return callers.turns > warm; }, 20s);
        BOOST_TEST(is_warm);
        growth memory;
        bool const is_measured = co_await eventually([&] { return callers.turns > warm + measured; }, 40s);
        BOOST_TEST(is_measured, callers.turns << " turns");
        auto const grown = memory.most();
        auto const seen = nodes.status();
        BOOST_TEST(grown < max_growth / 4, grown / mb << " MB");
        BOOST_TEST(seen.releases_pending <= 64 * busy_callers::many);
        for (auto const& n : seen.nodes) BOOST_TEST(n.connects == 1u);
        BOOST_TEST_MESSAGE(callers.turns << " turns, " << grown / 1024 << " kB more, " << seen.releases_pending << " releases pending");
        callers.stop();
        bool const ended = co_await eventually([&] { return callers.running == 0; });
        BOOST_TEST(ended);
        BOOST_TEST(callers.acquired > measured);
        servers[2].resume();
        auto draining = nodes.drain();
        co_await std::move(draining);
    });
}

// The scripts cannot bind a mark to the number of replicas and to the generation of a set, so they would refuse it for ever.
BOOST_FIXTURE_TEST_CASE(a_node_that_can_never_be_marked_is_asked_little_and_costs_little_memory, one_that_waits_for_a_replica)
{
    quorum::set_record changed;
    changed.id = "anyset";
    changed.generation = 1;
    changed.complete = true;
    changed.members = {"127.0.0.1:" + std::to_string(primary().port())};
    changed.joined = {0};
    changed.counts = {.size = 1, .before = 1, .fewest = 1, .most = 1, .moved = true};
    primary().command({"SET", "redlock:set", quorum::to_text(changed)});
    usable_at_start = 1;
    run([&]() -> asio::awaitable<void> {
        auto const asked = calls_of(primary(), "evalsha");
        auto alone = pause(3s);
        co_await std::move(alone);
        auto const questions = calls_of(primary(), "evalsha") - asked;
        BOOST_TEST(questions <= 30u, "a client of which nobody wants a lock asks " << questions << " times");
        busy_callers callers{nodes, {.ttl = 1s, .node_timeout = 20ms}};
        callers.start(co_await asio::this_coro::executor);
        bool const is_warm = co_await eventually([&] { return callers.turns > 50'000; }, 30s);
        BOOST_TEST(is_warm, callers.turns << " turns");
        growth memory;
        bool const is_measured = co_await eventually([&] { return callers.turns > 250'000; }, 60s);
        BOOST_TEST(is_measured, callers.turns << " turns");
        BOOST_TEST(memory.most() < max_growth / 4, memory.most() / mb << " MB");
        auto const seen = nodes.status();
        BOOST_TEST(seen.releases_pending <= 64 * busy_callers::many);
        BOOST_TEST(seen.nodes[0].connects == 1u);
        BOOST_TEST(mentions(seen.nodes[0].admission_text, "the set of this server was changed"), seen.nodes[0].admission_text);
        BOOST_TEST_MESSAGE(callers.turns << " turns, " << questions << " questions, " << memory.most() / 1024 << " kB more");
        callers.stop();
        bool const ended = co_await eventually([&] { return callers.running == 0; });
        BOOST_TEST(ended);
        BOOST_TEST(callers.acquired == 0u);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
