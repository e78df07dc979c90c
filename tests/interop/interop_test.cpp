// Other libraries and this one, on the same servers: each keeps out the other, and neither takes what is not its own.
#include "peers.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace redlock::testing {
namespace {

namespace data = boost::unit_test::data;

auto const peers = data::make({node_redlock, ioredis, redis_py, redlock_net});
auto const with_and_without_tokens = data::make({false, true});
auto const everybody = peers * with_and_without_tokens;

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

BOOST_AUTO_TEST_SUITE(peers_of_all_kinds)

BOOST_DATA_TEST_CASE(its_lock_is_contended, everybody, other, fencing)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock const resource{both.nodes, "r", with_fencing(quick, fencing)};
        co_await both.expect(*theirs, "acquire r 20000", "held");
        BOOST_TEST(both.servers_with(both.key_of("r")) > other.servers / 2);
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == condition::contended, verdicts(report));
        co_await both.expect(*theirs, "release", "released");
        lease const held = co_await resource.acquire();
        BOOST_TEST(held.valid());
        BOOST_TEST(both.servers_with(both.key_of("r")) > other.servers / 2);
    });
}

BOOST_DATA_TEST_CASE(our_lock_is_refused, everybody, other, fencing)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock const resource{both.nodes, "r", with_fencing(quick, fencing)};
        lease held = co_await resource.acquire();
        co_await both.expect(*theirs, "acquire r 20000", "refused");
        BOOST_TEST(held.valid());
        co_await held.release();
        co_await both.nodes.drain();
        co_await both.expect(*theirs, "acquire r 20000", "held");
        co_await both.expect(*theirs, "release", "released");
    });
}

// Without the message of the servers, it would look after a minute, or when the keys would have expired.
BOOST_DATA_TEST_CASE(what_it_releases_wakes_our_waiter, everybody, other, fencing)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock_options options = with_fencing(quick, fencing);
        options.poll_interval = 1min;
        lock const resource{both.nodes, "r", options};
        co_await both.expect(*theirs, "acquire r 60000", "held");
        auto ours = [&]() -> asio::awaitable<steady::time_point> {
            lease held = co_await resource.acquire();
            auto const at = steady::now();
            co_await held.release();
            co_return at;
        };
        auto const waiter = co_await both.begin(ours());
        co_await pause(100ms);
        BOOST_TEST(!waiter->done());
        auto const released_at = co_await both.expect(*theirs, "release", "released");
        auto const acquired_at = co_await waiter->end();
        BOOST_TEST((acquired_at > released_at));
        BOOST_TEST((acquired_at - released_at) / 1ms < 10'000);
    });
}

BOOST_DATA_TEST_CASE(when_it_dies_its_ttl_is_waited_for, everybody, other, fencing)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock const resource{both.nodes, "r", with_fencing(quick, fencing)};
        auto const asked_at = steady::now();
        co_await both.expect(*theirs, "acquire r 1000", "held");
        theirs->kill();
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == condition::contended);
        lease const held = co_await resource.acquire();
        auto const waited = (steady::now() - asked_at) / 1ms;
        BOOST_TEST(waited >= 999);
        BOOST_TEST(waited < 3'000);
    });
}

BOOST_DATA_TEST_CASE(its_extensions_keep_us_out, everybody, other, fencing)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock_options options = with_fencing(quick, fencing);
        options.acquire_timeout = 2s;
        lock const resource{both.nodes, "r", options};
        co_await both.expect(*theirs, "acquire r 1500", "held");
        co_await both.expect(*theirs, "extend 20000", "extended");
        auto [ec, nothing] = co_await resource.acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::acquire_timed_out);
        co_await both.expect(*theirs, "release", "released");
    });
}

// More than twice the ttl, by the watchdog.
BOOST_DATA_TEST_CASE(our_extensions_keep_it_out, everybody, other, fencing)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock_options options = with_fencing(quick, fencing);
        options.ttl = 1500ms;
        options.node_timeout = 1s;
        lock const resource{both.nodes, "r", options};
        lease held = co_await resource.acquire();
        auto const waiter = co_await both.begin(*theirs, "wait r 20000", "held");
        co_await pause(3500ms);
        BOOST_TEST(!waiter->done());
        BOOST_TEST(held.valid());
        auto const before = steady::now();
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(!released);
        auto const taken_at = co_await waiter->end();
        BOOST_TEST((taken_at > before));
        co_await both.expect(*theirs, "release", "released");
    });
}

BOOST_DATA_TEST_CASE(its_late_release_leaves_our_key, everybody, other, fencing)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock const resource{both.nodes, "r", with_fencing(quick, fencing)};
        co_await both.expect(*theirs, "acquire r 200", "held");
        lease held = co_await resource.acquire();
        co_await both.expect(*theirs, "extend 20000", "lost");
        co_await both.expect(*theirs, "release", "unconfirmed");
        BOOST_TEST(both.servers_with(both.key_of("r")) > other.servers / 2);
        co_await held.extend();
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(!released);
    });
}

BOOST_DATA_TEST_CASE(our_late_release_leaves_its_key, everybody, other, fencing)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock_options options = with_fencing(quick, fencing);
        options.ttl = 200ms;
        options.node_timeout = 100ms;
        options.auto_extend = false;
        lock const resource{both.nodes, "r", options};
        lease held = co_await resource.acquire();
        co_await both.expect(*theirs, "wait r 20000", "held");
        auto [extended] = co_await held.extend(asio::as_tuple);
        BOOST_TEST(extended == condition::lost);
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(released == condition::lost);
        co_await both.nodes.drain();
        BOOST_TEST(both.servers_with(both.key_of("r")) > other.servers / 2);
        co_await both.expect(*theirs, "extend 20000", "extended");
        co_await both.expect(*theirs, "release", "released");
    });
}

// Our tokens go on increasing behind its back, and it takes none.
BOOST_DATA_TEST_CASE(its_turns_leave_our_counters_alone, peers, other)
{
    if (!is_here(other)) return;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        auto const theirs = co_await both.start_peer();
        lock const resource{both.nodes, "r", quick};
        lease first = co_await resource.acquire();
        auto const token = first.token();
        co_await first.release();
        co_await both.nodes.drain();
        auto const counters = [&] {
            std::vector<std::string> found;
            for (std::size_t i = 0; i < other.servers; ++i) found.push_back(both.value(i, both.key_of("r") + ":fence"));
            return found;
        };
        auto const before = counters();
        BOOST_TEST(std::stoull(before[0]) >= token);
        co_await both.expect(*theirs, "acquire r 20000", "held");
        co_await both.expect(*theirs, "extend 20000", "extended");
        co_await both.expect(*theirs, "release", "released");
        BOOST_TEST((counters() == before));
        lease const second = co_await resource.acquire();
        BOOST_TEST(second.token() > token);
    });
}

BOOST_DATA_TEST_CASE(two_of_each_take_turns, everybody, other, fencing)
{
    if (!is_here(other)) return;
    constexpr std::size_t turns = 50;
    constexpr int hold_max_us = 3'000;
    two_libraries both{other};
    both.run([&]() -> asio::awaitable<void> {
        std::vector<stay> stays;
        std::minstd_rand random{std::random_device{}()};
        auto const a_while = [&] { return std::chrono::microseconds{std::uniform_int_distribution{0, hold_max_us}(random)}; };
        auto ours = [&](redlock::client& nodes_of_mine) -> asio::awaitable<steady::time_point> {
            lock const resource{nodes_of_mine, "r", with_fencing(quick, fencing)};
            for (std::size_t turn = 0; turn < turns; ++turn) {
                lease held = co_await resource.acquire();
                auto const from = steady::now();
                co_await pause(a_while());
                stays.push_back({from, steady::now()});
                co_await held.release();
                co_await pause(a_while());
            }
            co_return steady::now();
        };
        auto theirs = [&](peer_process& its) -> asio::awaitable<steady::time_point> {
            for (std::size_t turn = 0; turn < turns; ++turn) {
                auto const from = co_await both.expect(its, "wait r 20000", "held");
                co_await pause(a_while());
                auto const to = co_await both.expect(its, "release", "released");
                stays.push_back({from, to});
                co_await pause(a_while());
            }
            co_return steady::now();
        };
        auto const another = both.another_client();
        auto const one_peer = co_await both.start_peer();
        auto const another_peer = co_await both.start_peer();
        std::vector<std::shared_ptr<meanwhile>> all;
        all.push_back(co_await both.begin(ours(both.nodes)));
        all.push_back(co_await both.begin(ours(*another)));
        all.push_back(co_await both.begin(theirs(*one_peer)));
        all.push_back(co_await both.begin(theirs(*another_peer)));
        // All of them, also when one has failed: they use what ends with this story.
        bool const finished = co_await eventually([&] { return std::ranges::all_of(all, [](auto const& one) { return one->done(); }); },
                                                  28s);
        BOOST_TEST_REQUIRE(finished);
        for (auto const& one : all) co_await one->end();
        BOOST_TEST(stays.size() == 4 * turns);
        BOOST_TEST(overlaps(stays) == 0u);
        co_await another->drain();
        another->cancel();
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
