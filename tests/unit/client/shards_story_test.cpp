// A client of several sets of nodes, in virtual time: which set a lock is asked of, and what concerns all sets.
#include "support/world.hpp"

#include "client/shard_choice.hpp"
#include "client/sharded_core.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/test/unit_test.hpp>

#include <cstddef>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;

constexpr std::size_t shard_count = 3;

struct counting final : observer {
    void on(event::any const& what) override
    {
        if (auto const* e = std::get_if<event::acquired>(&what)) acquired.emplace_back(e->lock);
    }
    std::vector<std::string> acquired;
};

// Three sets of three nodes.
struct shards {
    explicit shards(std::shared_ptr<observer> to = nullptr)
    {
        asio::any_io_executor const executor = context->get_executor();
        asio::strand<asio::any_io_executor> const strand{executor};
        if (to) to = detail::one_at_a_time(std::move(to), executor);
        std::vector<std::shared_ptr<detail::core>> cores;
        for (std::size_t s = 0; s < shard_count; ++s) {
            auto& set = sets.emplace_back();
            std::vector<std::unique_ptr<detail::node>> fronts;
            for (std::size_t n = 0; n < 3; ++n) {
                set.push_back(std::make_unique<memory_node>("node" + std::to_string(s) + std::to_string(n), 30s));
                fronts.push_back(set.back()->front(strand));
            }
            detail::engine_settings settings;
            settings.max_ttl = 30s;
            settings.observer = to;
            settings.log = detail::log_of_shard([this](std::string_view sentence) { log.emplace_back(sentence); }, s);
            settings.wall_clock = [] { return static_cast<std::uint64_t>(virtual_clock::now().time_since_epoch() / 1us); };
            settings.fresh_value = [this] { return "value" + std::to_string(++values); };
            cores.push_back(detail::basic_core<virtual_clock>::make(executor, strand, std::move(fronts), std::move(settings)));
        }
        client.emplace(detail::access::make_client(std::make_shared<detail::sharded_core>(std::move(cores))));
    }

    ~shards()
    {
        context.reset();
        client.reset();
    }

    void start()
    {
        client->run(asio::bind_cancellation_slot(stop_run.slot(), [this](error_code ec) { run_result = ec; }));
        settle();
    }

    void settle() { testing::settle(*context); }
    void advance(duration d) { testing::advance(*context, d); }

    // A name that belongs to this shard.
    static std::string name_in(std::size_t shard)
    {
        for (int i = 0;; ++i)
            if (auto name = "job:" + std::to_string(i); detail::shard_of(name, shard_count) == shard) return name;
    }

    lease acquire(std::string name)
    {
        std::optional<error_code> result;
        lease got;
        redlock::lock{*client, std::move(name)}.acquire([&](error_code ec, lease l) {
            result = ec;
            got = std::move(l);
        });
        advance(1s);
        BOOST_TEST_REQUIRE(result.has_value());
        BOOST_TEST_REQUIRE(!*result);
        return got;
    }

    std::size_t keys_in(std::size_t shard)
    {
        std::size_t all = 0;
        for (auto const& n : sets.at(shard)) all += n->keys();
        return all;
    }

    std::unique_ptr<asio::io_context> context = std::make_unique<asio::io_context>();
    std::vector<std::vector<std::unique_ptr<memory_node>>> sets;
    std::optional<redlock::client> client;
    asio::cancellation_signal stop_run;
    std::optional<error_code> run_result;
    std::vector<std::string> log;
    int values{0};
};

struct observed_shards {
    std::shared_ptr<counting> told = std::make_shared<counting>();
    shards all{told};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(shards_story)

BOOST_FIXTURE_TEST_CASE(a_lock_is_on_the_nodes_of_its_shard_only, shards)
{
    start();
    for (std::size_t s = 0; s < shard_count; ++s) {
        lease held = acquire(name_in(s));
        for (std::size_t other = 0; other < shard_count; ++other) BOOST_TEST(keys_in(other) == (other == s ? 3u : 0u));
        BOOST_TEST(held.nodes_held() == 3u);
        held = {};
        advance(1s);
        BOOST_TEST(keys_in(s) == 0u);
    }
}

BOOST_FIXTURE_TEST_CASE(two_locks_of_one_name_exclude_each_other, shards)
{
    start();
    lease const held = acquire(name_in(1));
    std::optional<error_code> second;
    redlock::lock{*client, name_in(1)}.try_acquire([&](error_code ec, lease) { second = ec; });
    advance(1s);
    BOOST_TEST_REQUIRE(second.has_value());
    BOOST_TEST(*second == errc::contended);
}

BOOST_FIXTURE_TEST_CASE(names_in_several_shards_are_refused, shards)
{
    std::vector<std::string> const names{name_in(0), name_in(1)};
    BOOST_CHECK_THROW((redlock::lock{*client, names}), std::invalid_argument);
    start();
    redlock::lock const both{*client, std::vector<std::string>{"{7}:a", "{7}:b"}};
    std::optional<error_code> result;
    lease held;
    both.acquire([&](error_code ec, lease l) {
        result = ec;
        held = std::move(l);
    });
    advance(1s);
    BOOST_TEST_REQUIRE(result.has_value());
    BOOST_TEST(!*result);
    BOOST_TEST(keys_in(detail::shard_of("7", shard_count)) == 6u);
}

BOOST_FIXTURE_TEST_CASE(a_shard_that_is_down_stops_its_own_locks_only, shards)
{
    start();
    for (auto const& n : sets[0]) n->cut();
    settle();
    lease const held = acquire(name_in(1));
    std::optional<error_code> result;
    redlock::lock{*client, name_in(0), {.acquire_timeout = 5s}}.acquire([&](error_code ec, lease) { result = ec; });
    advance(6s);
    BOOST_TEST_REQUIRE(result.has_value());
    BOOST_TEST(*result == errc::acquire_timed_out_no_majority);
    BOOST_TEST_REQUIRE(log.size() == 1u);
    BOOST_TEST(log[0].starts_with("shard 0: "));
    BOOST_TEST(held.valid());
}

BOOST_FIXTURE_TEST_CASE(the_status_is_that_of_all_shards, shards)
{
    start();
    lease const one = acquire(name_in(0));
    lease const two = acquire(name_in(2));
    auto const s = client->status();
    BOOST_TEST_REQUIRE(s.nodes.size() == 9u);
    BOOST_TEST(s.nodes[0].shard == 0u);
    BOOST_TEST(s.nodes[8].shard == 2u);
    BOOST_TEST(s.nodes[8].node == "node22");
    BOOST_TEST(s.leases == 2u);
    BOOST_TEST(s.counters.acquired == 2u);
    BOOST_TEST(s.waiting == 0u);
    BOOST_TEST(s.releases_pending == 0u);
}

BOOST_FIXTURE_TEST_CASE(what_is_pending_is_that_of_all_shards, shards)
{
    start();
    std::vector<lease> held;
    for (std::size_t shard : {0u, 2u}) held.push_back(acquire(name_in(shard)));
    for (int i = 0; i < 3; ++i) redlock::lock{*client, name_in(2)}.acquire([](error_code, lease) {});
    for (auto& n : sets[0]) n->stop();
    held.erase(held.begin());
    settle();
    auto const s = client->status();
    BOOST_TEST(s.leases == 1u);
    BOOST_TEST(s.waiting == 3u);
    BOOST_TEST(s.releases_pending == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_ticket_is_adopted_in_its_shard, shards)
{
    start();
    for (std::size_t s = 0; s < shard_count; ++s) {
        lease held = acquire(name_in(s));
        auto const token = held.token();
        auto const ticket = held.detach();
        std::optional<error_code> result;
        client->adopt(ticket, [&](error_code ec, lease l) {
            result = ec;
            held = std::move(l);
        });
        advance(1s);
        BOOST_TEST_REQUIRE(result.has_value());
        BOOST_TEST(!*result);
        BOOST_TEST(held.token() == token);
    }
    std::optional<error_code> result;
    client->adopt("nonsense", [&](error_code ec, lease) { result = ec; });
    advance(1s);
    BOOST_TEST_REQUIRE(result.has_value());
    BOOST_TEST(*result == errc::invalid_ticket);
}

BOOST_FIXTURE_TEST_CASE(run_ends_when_all_shards_have, shards)
{
    start();
    lease const held = acquire(name_in(1));
    client->cancel();
    BOOST_TEST(!run_result.has_value());
    advance(1s);
    BOOST_TEST_REQUIRE(run_result.has_value());
    BOOST_TEST(*run_result == errc::client_cancelled);
    BOOST_TEST(!held.valid());
}

BOOST_FIXTURE_TEST_CASE(run_can_be_cancelled, shards)
{
    start();
    stop_run.emit(asio::cancellation_type::total);
    settle();
    BOOST_TEST(!run_result.has_value(), "it is ignored, and does not take the place of the next one");
    stop_run.emit(asio::cancellation_type::terminal);
    advance(1s);
    BOOST_TEST_REQUIRE(run_result.has_value());
    BOOST_TEST(*run_result == errc::client_cancelled);
}

BOOST_FIXTURE_TEST_CASE(drain_waits_for_the_releases_of_all_shards, shards)
{
    start();
    for (auto const& n : sets[2]) n->there = 300ms;
    lease held = acquire(name_in(2));
    held = {};
    settle();
    std::optional<error_code> drained;
    client->drain([&](error_code ec) { drained = ec; });
    advance(200ms);
    BOOST_TEST(!drained.has_value());
    advance(1s);
    BOOST_TEST_REQUIRE(drained.has_value());
    BOOST_TEST(!*drained);
    BOOST_TEST(keys_in(2) == 0u);
}

BOOST_FIXTURE_TEST_CASE(one_observer_is_told_of_all_shards, observed_shards)
{
    all.start();
    lease const one = all.acquire(all.name_in(0));
    lease const two = all.acquire(all.name_in(1));
    std::vector<std::string> const expected{all.name_in(0), all.name_in(1)};
    BOOST_TEST(told->acquired == expected, boost::test_tools::per_element());
    all.context.reset();
    BOOST_TEST(told.use_count() == 1, "its strand is one of this context, and must not outlive it with the leases");
}

BOOST_AUTO_TEST_SUITE_END()
