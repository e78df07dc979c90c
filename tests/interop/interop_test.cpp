// node-redlock and this library, on the same servers: each keeps out the other, and neither takes what is not its own.
#include "node_redlock.hpp"
#include "support/cluster.hpp"
#include "support/temporary_folder.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/strand.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

using steady = std::chrono::steady_clock;

constexpr lock_options quick{.ttl = 20s, .node_timeout = 2s, .retry_delay_min = 5ms, .retry_delay_max = 20ms};

constexpr lock_options with_tokens(lock_options options, bool fencing)
{
    options.fencing = fencing;
    return options;
}

struct two_libraries : cluster {
    two_libraries() : cluster{3}
    {
        auto const missing = missing_for_node_redlock();
        BOOST_REQUIRE_MESSAGE(missing.empty(), missing);
    }

    asio::awaitable<std::unique_ptr<peer_process>> node_redlock()
    {
        std::vector<std::uint16_t> ports;
        for (auto const& server : servers) ports.push_back(server.port());
        auto peer = start_node_redlock(co_await asio::this_coro::executor, ports, log());
        co_await expect(*peer, "ready");
        co_return peer;
    }

    // Hears (or asks, and hears) one thing.
    asio::awaitable<steady::time_point> expect(peer_process& peer, std::string word)
    {
        auto hearing = peer.hear();
        auto const said = co_await std::move(hearing);
        check(said, word);
        co_return said.at;
    }
    asio::awaitable<steady::time_point> expect(peer_process& peer, std::string line, std::string word)
    {
        auto asking = peer.ask(std::move(line));
        auto const said = co_await std::move(asking);
        check(said, word);
        co_return said.at;
    }

private:
    std::filesystem::path log() const { return folder_.path() / "errors"; }

    void check(peer_process::answer const& said, std::string const& word) const
    {
        std::ifstream file{log()};
        std::string const errors{std::istreambuf_iterator<char>{file}, {}};
        BOOST_REQUIRE_MESSAGE(said.word == word, "node-redlock said '" << said.word << "' instead of '" << word << "'\n" << errors);
    }

    temporary_folder folder_;
};

}  // namespace

// When somebody held the lock for certain. Two of these must never have a moment in common.
struct stay {
    steady::time_point from;
    steady::time_point to;
};

static std::size_t overlaps(std::vector<stay> stays)
{
    std::ranges::sort(stays, {}, &stay::from);
    std::size_t count = 0;
    for (std::size_t i = 1; i < stays.size(); ++i) count += stays[i].from < stays[i - 1].to;
    return count;
}

BOOST_AUTO_TEST_SUITE(node_redlock)

BOOST_DATA_TEST_CASE_F(two_libraries, its_lock_is_contended, boost::unit_test::data::make({false, true}), fencing)
{
    run([&]() -> asio::awaitable<void> {
        auto const peer = co_await node_redlock();
        lock const resource{nodes, "r", with_tokens(quick, fencing)};
        co_await expect(*peer, "acquire r 20000", "held");
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::contended, verdicts(report));
        co_await expect(*peer, "release", "released");
        lease const held = co_await resource.acquire();
        BOOST_TEST(held.valid());
    });
}

BOOST_DATA_TEST_CASE_F(two_libraries, our_lock_is_refused, boost::unit_test::data::make({false, true}), fencing)
{
    run([&]() -> asio::awaitable<void> {
        auto const peer = co_await node_redlock();
        lock const resource{nodes, "r", with_tokens(quick, fencing)};
        lease held = co_await resource.acquire();
        co_await expect(*peer, "acquire r 20000", "refused");
        BOOST_TEST(held.valid());
        co_await held.release();
        co_await nodes.drain();
        co_await expect(*peer, "acquire r 20000", "held");
        co_await expect(*peer, "release", "released");
    });
}

BOOST_DATA_TEST_CASE_F(two_libraries, what_it_releases_goes_to_our_waiter, boost::unit_test::data::make({false, true}), fencing)
{
    run([&]() -> asio::awaitable<void> {
        auto const peer = co_await node_redlock();
        lock const resource{nodes, "r", with_tokens(quick, fencing)};
        co_await expect(*peer, "acquire r 20000", "held");
        steady::time_point acquired_at{};
        auto waiter = [&]() -> asio::awaitable<void> {
            lease held = co_await resource.acquire();
            acquired_at = steady::now();
            co_await held.release();
        };
        std::exception_ptr failure;
        asio::co_spawn(co_await asio::this_coro::executor, waiter(), [&](std::exception_ptr e) { failure = e; });
        co_await pause(100ms);
        BOOST_TEST((acquired_at == steady::time_point{}));
        auto const released_at = co_await expect(*peer, "release", "released");
        bool const acquired = co_await eventually([&] { return acquired_at != steady::time_point{}; });
        BOOST_TEST(acquired);
        BOOST_TEST(!failure);
        BOOST_TEST((acquired_at > released_at));
    });
}

BOOST_DATA_TEST_CASE_F(two_libraries, when_it_dies_its_ttl_is_waited_for, boost::unit_test::data::make({false, true}), fencing)
{
    run([&]() -> asio::awaitable<void> {
        auto const peer = co_await node_redlock();
        lock const resource{nodes, "r", with_tokens(quick, fencing)};
        auto const asked_at = steady::now();
        co_await expect(*peer, "acquire r 1000", "held");
        peer->kill();
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::contended);
        lease const held = co_await resource.acquire();
        auto const waited = (steady::now() - asked_at) / 1ms;
        BOOST_TEST(waited >= 999);
        BOOST_TEST(waited < 3'000);
    });
}

BOOST_DATA_TEST_CASE_F(two_libraries, its_extensions_keep_us_out, boost::unit_test::data::make({false, true}), fencing)
{
    run([&]() -> asio::awaitable<void> {
        auto const peer = co_await node_redlock();
        lock_options options = with_tokens(quick, fencing);
        options.deadline = 2s;
        lock const resource{nodes, "r", options};
        co_await expect(*peer, "acquire r 1500", "held");
        co_await expect(*peer, "extend 20000", "extended");
        auto [ec, nothing] = co_await resource.acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::deadline_exceeded);
        co_await expect(*peer, "release", "released");
    });
}

BOOST_DATA_TEST_CASE_F(two_libraries, its_late_release_leaves_our_key, boost::unit_test::data::make({false, true}), fencing)
{
    run([&]() -> asio::awaitable<void> {
        auto const peer = co_await node_redlock();
        lock const resource{nodes, "r", with_tokens(quick, fencing)};
        co_await expect(*peer, "acquire r 200", "held");
        lease held = co_await resource.acquire();
        co_await expect(*peer, "extend 20000", "lost");
        co_await expect(*peer, "release", "unconfirmed");
        BOOST_TEST(servers_with("r") >= 2u);
        co_await held.extend();
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(!released);
    });
}

BOOST_DATA_TEST_CASE_F(two_libraries, our_late_release_leaves_its_key, boost::unit_test::data::make({false, true}), fencing)
{
    run([&]() -> asio::awaitable<void> {
        auto const peer = co_await node_redlock();
        lock_options options = with_tokens(quick, fencing);
        options.ttl = 200ms;
        options.node_timeout = 100ms;
        options.auto_extend = false;
        lock const resource{nodes, "r", options};
        lease held = co_await resource.acquire();
        co_await expect(*peer, "wait r 20000", "held");
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(released == condition::lost);
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") >= 2u);
        co_await expect(*peer, "extend 20000", "extended");
        co_await expect(*peer, "release", "released");
    });
}

BOOST_DATA_TEST_CASE_F(two_libraries, two_of_each_take_turns, boost::unit_test::data::make({false, true}), fencing)
{
    constexpr std::size_t turns = 50;
    constexpr int hold_max_us = 3'000;
    run([&]() -> asio::awaitable<void> {
        std::vector<stay> stays;
        std::minstd_rand random{std::random_device{}()};
        auto const a_while = [&] { return std::chrono::microseconds{std::uniform_int_distribution{0, hold_max_us}(random)}; };
        auto ours = [&](redlock::client& nodes_of_mine) -> asio::awaitable<void> {
            lock const resource{nodes_of_mine, "r", with_tokens(quick, fencing)};
            for (std::size_t turn = 0; turn < turns; ++turn) {
                lease held = co_await resource.acquire();
                auto const from = steady::now();
                co_await pause(a_while());
                stays.push_back({from, steady::now()});
                co_await held.release();
                co_await pause(a_while());
            }
        };
        auto theirs = [&](peer_process& peer) -> asio::awaitable<void> {
            for (std::size_t turn = 0; turn < turns; ++turn) {
                auto const from = co_await expect(peer, "wait r 20000", "held");
                co_await pause(a_while());
                auto const to = co_await expect(peer, "release", "released");
                stays.push_back({from, to});
                co_await pause(a_while());
            }
        };
        auto const another = another_client();
        auto const one_peer = co_await node_redlock();
        auto const another_peer = co_await node_redlock();
        auto const strand = co_await asio::this_coro::executor;
        int working = 4;
        std::exception_ptr failure;
        auto const done = [&](std::exception_ptr e) {
            --working;
            if (e) failure = e;
        };
        asio::co_spawn(strand, ours(nodes), done);
        asio::co_spawn(strand, ours(*another), done);
        asio::co_spawn(strand, theirs(*one_peer), done);
        asio::co_spawn(strand, theirs(*another_peer), done);
        bool const finished = co_await eventually([&] { return working == 0; }, 28s);
        if (failure) std::rethrow_exception(failure);
        BOOST_TEST_REQUIRE(finished);
        BOOST_TEST(stays.size() == 4 * turns);
        BOOST_TEST(overlaps(stays) == 0u);
        co_await another->drain();
        another->cancel();
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
