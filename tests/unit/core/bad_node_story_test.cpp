// What a client keeps for a node that does not take it: no more than can still matter, whatever state the node is in.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/test/unit_test.hpp>

#include <malloc.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

// Allocated by this program; none: unknown, since sanitizers have a malloc of their own.
std::optional<std::size_t> bytes_in_use()
{
#if defined(__GLIBC__) && __GLIBC_PREREQ(2, 33)
    auto const bytes = ::mallinfo2().uordblks;
    if (bytes > 0) return bytes;
#endif
    return std::nullopt;
}

// The last of three nodes is the bad one.
struct bad_node_world : world {
    static constexpr std::size_t bad = 2;

    explicit bad_node_world(std::function<void(memory_node&)> const& before_it_starts = [](memory_node&) {})
    {
        before_it_starts(*nodes[bad]);
        start();
    }

    void acquire_and_release(std::string const& name, std::chrono::milliseconds ttl = 30s)
    {
        std::optional<error_code> ended;
        redlock::lock{*client, name, {.ttl = ttl}}.acquire([&](error_code ec, lease held) {
            ended = ec;
            if (!ec) held.release([&](error_code why) { ended = why; });
        });
        advance(1ms);
        BOOST_REQUIRE(ended.has_value());
        BOOST_REQUIRE(!*ended);
    }

    std::vector<lease> hold(std::size_t leases, lock_options const& options = {.ttl = 30s, .auto_extend = false})
    {
        std::vector<lease> all;
        for (std::size_t i = 0; i < leases; ++i)
            redlock::lock{*client, "held" + std::to_string(i), options}.acquire(
                [&](error_code, lease got) { all.push_back(std::move(got)); });
        advance(1ms);
        BOOST_REQUIRE(all.size() == leases);
        return all;
    }

    void forget_what_was_received()
    {
        for (auto& n : nodes) n->received.clear();
    }

    std::size_t pending() const { return client->status().releases_pending; }

    // What a thousand turns of locks leave behind, when as many have gone before.
    void churn(std::function<void()> const& now_and_then = [] {})
    {
        constexpr int turns = 1'000;
        std::optional<std::size_t> before;
        for (int i = 0; i < 2 * turns; ++i) {
            acquire_and_release("lock" + std::to_string(i % 50));  // nodes keep the counters of locks
            forget_what_was_received();
            if (i % 50 == 0) now_and_then();
            if (i == turns) before = bytes_in_use();
        }
        auto const after = bytes_in_use();
        BOOST_TEST(pending() <= detail::fanout::max_in_flight);
        constexpr std::size_t few = 128 * 1024;  // a release and what it keeps has more than 1 kB
        if (before && after) BOOST_TEST(*after < *before + few);
    }
};

struct node_that_never_connects : bad_node_world {
    node_that_never_connects() : bad_node_world{[](memory_node& n) { n.connects_late = true; }} {}
};

struct node_that_refuses_connections : bad_node_world {
    node_that_refuses_connections() : bad_node_world{[](memory_node& n) { n.refuse_connections = true; }} {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(bad_node_story)

BOOST_FIXTURE_TEST_CASE(nothing_gathers_for_a_node_that_never_connects, node_that_never_connects) { churn(); }

BOOST_FIXTURE_TEST_CASE(nothing_gathers_for_a_node_that_refuses_connections, node_that_refuses_connections) { churn(); }

BOOST_FIXTURE_TEST_CASE(nothing_gathers_for_a_node_that_hangs, bad_node_world)
{
    nodes[bad]->stop();
    churn();
}

BOOST_FIXTURE_TEST_CASE(nothing_gathers_for_a_node_that_is_lost, bad_node_world)
{
    nodes[bad]->cut();
    churn();
}

// Each time, what was on its way to it may have set a key, and that is all.
BOOST_FIXTURE_TEST_CASE(nothing_gathers_for_a_node_that_hangs_and_connects_anew_again_and_again, bad_node_world)
{
    nodes[bad]->stop();
    churn([this] {
        nodes[bad]->cut();
        nodes[bad]->connect();
        nodes[bad]->go_on();
        advance(1ms);
        nodes[bad]->stop();
    });
}

BOOST_FIXTURE_TEST_CASE(nothing_gathers_for_a_node_in_quarantine, bad_node_world)
{
    acquire_and_release("first");  // marks begin with it
    nodes[bad]->cut();
    nodes[bad]->restart_empty();
    nodes[bad]->connect();
    advance(10ms);
    BOOST_REQUIRE((client->status().nodes[bad].admission == admission_state::quarantined));
    churn();
}

// It is connected, and hangs before it was asked to wait: nobody knows whether it may vote.
BOOST_FIXTURE_TEST_CASE(nothing_gathers_for_a_node_that_is_undecided_and_hangs, bad_node_world)
{
    nodes[bad]->cut();
    nodes[bad]->restart_empty();
    nodes[bad]->stop();
    nodes[bad]->connect();
    advance(10ms);
    BOOST_REQUIRE((client->status().nodes[bad].admission == admission_state::uninitialized));
    churn();
}

BOOST_FIXTURE_TEST_CASE(what_a_hung_node_was_never_asked_for_is_not_released_there, bad_node_world)
{
    nodes[bad]->stop();
    for (int i = 0; i < 200; ++i) acquire_and_release("lock" + std::to_string(i));
    forget_what_was_received();
    nodes[bad]->go_on();
    advance(1s);
    BOOST_TEST(nodes[bad]->count(verb::release) <= detail::fanout::max_in_flight);
    BOOST_TEST(nodes[bad]->count(verb::acquire) <= detail::fanout::max_in_flight);
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(pending() == 0u);
}

BOOST_FIXTURE_TEST_CASE(what_a_hung_node_was_asked_for_is_released_when_it_goes_on, bad_node_world)
{
    auto held = hold(200);
    nodes[bad]->stop();
    held.clear();
    for (int i = 0; i < 200; ++i) acquire_and_release("lock" + std::to_string(i));
    BOOST_TEST(nodes[bad]->keys() == 200u);
    nodes[bad]->go_on();
    advance(1s);
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(pending() == 0u);
}

BOOST_FIXTURE_TEST_CASE(releases_that_wait_for_a_hung_node_end_with_their_keys, bad_node_world)
{
    auto held = hold(2'000, {.ttl = 5s, .auto_extend = false});
    nodes[bad]->stop();
    for (int i = 0; i < 40; ++i) acquire_and_release("lock" + std::to_string(i));  // as many as may be on their way
    held.clear();
    advance(1ms);
    BOOST_TEST(pending() >= 2'000u);
    advance(11s);
    acquire_and_release("one more");
    BOOST_TEST(pending() <= 2 * detail::fanout::max_in_flight);
    nodes[bad]->go_on();
    advance(1s);
    BOOST_TEST(pending() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_wish_that_was_never_left_at_a_node_is_not_withdrawn_there, bad_node_world)
{
    for (auto& n : nodes) n->set("file", "foreign", 200ms);
    nodes[bad]->stop();
    for (int i = 0; i < 40; ++i) acquire_and_release("lock" + std::to_string(i));
    std::optional<error_code> ended;
    redlock::rw_lock{*client, "file", {.ttl = 30s}}.acquire([&](error_code ec, lease) { ended = ec; });
    advance(300ms);
    BOOST_REQUIRE(ended.has_value());
    BOOST_TEST(!*ended);
    BOOST_TEST(nodes[0]->count(verb::want) > 0u);
    forget_what_was_received();
    nodes[bad]->go_on();
    advance(100ms);
    BOOST_TEST(nodes[bad]->count(verb::want) == 0u);
    auto const is_about_it = [](memory_node::request const& r) { return r.key.starts_with("file"); };
    BOOST_TEST(std::none_of(nodes[bad]->received.begin(), nodes[bad]->received.end(), is_about_it));
}

BOOST_AUTO_TEST_SUITE_END()
