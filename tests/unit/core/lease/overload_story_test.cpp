// Nodes that answer a bounded number of requests a second, and more leases than they can keep: what cannot be kept is lost in order, and no more.
#include "support/world.hpp"

#include <boost/test/data/monomorphic.hpp>
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

constexpr auto a_ttl = 9s;
constexpr std::size_t leases = 2'000;

struct overloaded_world : world {
    explicit overloaded_world(std::size_t node_count) : world{node_count} { start(); }

    // All within `during`.
    void acquire(std::size_t count, duration during)
    {
        held.resize(count);
        for (std::size_t i = 0; i < count; ++i) {
            redlock::lock{*client, "lock" + std::to_string(i), {.ttl = a_ttl}}.try_acquire([this, i](error_code ec, lease got) {
                if (ec) return;
                held[i] = std::move(got);
                held[i].wait_lost([this](error_code why) {
                    if (why == errc::lease_lost) lost_at.push_back(virtual_clock::now());
                });
            });
            advance(during / static_cast<int>(count));
        }
        advance(1ms);
        BOOST_REQUIRE(valid() == count);
    }

    std::size_t valid() const
    {
        return static_cast<std::size_t>(std::count_if(held.begin(), held.end(), [](lease const& each) { return each.valid(); }));
    }

    // Each node answers so many requests a second; 0: any number.
    void serve(int requests)
    {
        for (auto& n : nodes) n->works = requests == 0 ? duration{0} : duration{1s} / requests;
    }

    // The most that were lost within 100 ms.
    std::size_t most_lost_at_once() const
    {
        std::size_t most = 0;
        for (std::size_t first = 0, i = 0; i < lost_at.size(); ++i) {
            while (lost_at[i] - lost_at[first] > 100ms) ++first;
            most = std::max(most, i + 1 - first);
        }
        return most;
    }

    std::vector<lease> held;
    std::vector<time_point> lost_at;
};

}  // namespace

BOOST_AUTO_TEST_SUITE(overload_story)

// Each lease is extended every 3 s, and was acquired at some moment of the first of them.
BOOST_DATA_TEST_CASE(what_needs_twice_as_much_as_the_nodes_serve_is_kept_by_longer_intervals, boost::unit_test::data::make({1u, 3u}),
                     node_count)
{
    overloaded_world w{node_count};
    w.acquire(leases, a_ttl / 3);
    w.serve(333);
    w.advance(60s);
    BOOST_TEST(w.valid() == leases);
    w.serve(0);
    w.advance(20s);
    BOOST_TEST(w.valid() == leases);
    w.finish();
}

// With a request a ttl for each lease the nodes could keep 1,332.
BOOST_DATA_TEST_CASE(what_cannot_be_kept_is_lost_little_by_little_and_the_rest_is_kept, boost::unit_test::data::make({1u, 3u}), node_count)
{
    overloaded_world w{node_count};
    w.acquire(leases, a_ttl / 3);
    w.serve(148);
    w.advance(60s);
    auto const kept = w.valid();
    BOOST_TEST(kept >= 600u);
    BOOST_TEST(kept + w.lost_at.size() == leases);
    BOOST_TEST(w.most_lost_at_once() < 150u);
    BOOST_TEST(w.nodes[0]->count(verb::extend) > 8'500u);  // it was never idle
    w.serve(0);
    w.advance(20s);
    BOOST_TEST(w.valid() == kept);
    for (lease& each : w.held) each = {};
    w.acquire(leases, a_ttl / 3);
    w.advance(20s);
    BOOST_TEST(w.valid() == leases);
    w.finish();
}

// All were acquired at once, so all extensions are due at once. The nodes serve half as many more as are needed.
BOOST_DATA_TEST_CASE(a_crowd_at_once_does_not_make_its_own_overload, boost::unit_test::data::make({1u, 3u}), node_count)
{
    overloaded_world w{node_count};
    w.acquire(leases, 0s);
    w.serve(1'000);
    w.advance(60s);
    BOOST_TEST(w.valid() == leases);
    BOOST_TEST(w.nodes[0]->count(verb::extend) <= leases * 20);  // nothing was sent twice
    w.finish();
}

// They are acquired at once as well.
BOOST_DATA_TEST_CASE(a_crowd_that_needs_twice_as_much_keeps_most, boost::unit_test::data::make({1u, 3u}), node_count)
{
    overloaded_world w{node_count};
    w.acquire(leases, 0s);
    w.serve(333);
    w.advance(60s);
    auto const kept = w.valid();
    BOOST_TEST(kept > leases / 2);
    w.serve(0);
    w.advance(20s);
    BOOST_TEST(w.valid() == kept);
    w.finish();
}

// A node that hangs gets no second extension of a lease, and the others keep it.
BOOST_AUTO_TEST_CASE(a_node_that_hangs_is_asked_once_for_each_lease)
{
    overloaded_world w{3};
    w.acquire(10, 0s);
    w.nodes[2]->stop();
    w.advance(60s);
    BOOST_TEST(w.valid() == 10u);
    auto const before = w.nodes[2]->count(verb::extend);
    w.nodes[2]->go_on();
    w.advance(100ms);
    BOOST_TEST(w.nodes[2]->count(verb::extend) - before == 10u);
    w.advance(5s);
    for (lease const& each : w.held) BOOST_TEST(each.nodes_held() == 3u);
    w.finish();
}

// Leases end while their extensions wait until it is known whether a node may vote: it may have as many to answer as before.
BOOST_AUTO_TEST_CASE(a_node_that_hung_while_leases_came_and_went_is_asked_for_others)
{
    overloaded_world w{3};
    memory_node& hangs = *w.nodes[2];
    auto const hang = [&] {
        auto const before = hangs.count(verb::extend);
        hangs.always = detail::reply{vote::failed, errc::node_not_admitted, "not admitted"};
        BOOST_REQUIRE(advance_until(*w.context, [&] { return hangs.count(verb::extend) > before; }, a_ttl));
        w.advance(hangs.back + 10us);  // it is asked what it is
        hangs.always.reset();
        hangs.stop();
        w.advance(a_ttl / 2);
    };
    for (int turn = 0; turn < 3; ++turn) {
        w.acquire(leases, 1s);  // in all, more than may be under way
        hang();
        w.held.clear();
        w.advance(a_ttl);
        hangs.go_on();
        w.advance(1s);
    }
    w.acquire(10, 0s);
    hang();
    auto const before = hangs.count(verb::extend);
    hangs.go_on();
    w.advance(a_ttl);
    BOOST_TEST(hangs.count(verb::extend) - before >= 20u);
    for (lease const& each : w.held) BOOST_TEST(each.nodes_held() == 3u);
    w.finish();
}

// Each extension is given up first, and then renews the lease.
BOOST_AUTO_TEST_CASE(nodes_that_answer_later_than_anybody_waits_are_asked_no_more_often)
{
    overloaded_world w{3};
    w.acquire(1, 0s);
    for (auto& n : w.nodes) n->back = 1s;
    w.advance(60s);
    BOOST_TEST(w.counters().extensions_renewed == 0u);
    BOOST_TEST(w.valid() == 1u);
    BOOST_TEST(w.nodes[0]->count(verb::extend) <= 20u);
    w.finish();
}

BOOST_AUTO_TEST_SUITE_END()
