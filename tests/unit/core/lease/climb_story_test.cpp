// Leases that climb, over nodes in memory: back onto a node whose counter or base is above their token, and when they must not.
#include "support/world.hpp"

#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

struct climbing_world : world {
    explicit climbing_world(std::size_t node_count = 3) : world{node_count, 8'192, nullptr, 10s} { start(); }

    lease acquire(std::vector<std::string> const& names = {"resource"}, lock_options const& options = {.ttl = 9s})
    {
        auto story = [&]() -> asio::awaitable<lease> {
            redlock::lock resource{*client, names, options};
            auto acquiring = resource.acquire(asio::use_awaitable);
            co_return co_await std::move(acquiring);
        };
        return run(story());
    }

    void give_back(lease& held)
    {
        auto story = [&]() -> asio::awaitable<void> {
            auto release = held.release(asio::use_awaitable);
            co_await std::move(release);
        };
        run(story());
        settle();
    }

    redis_model::counter const* counter(std::size_t node, std::string const& name = "resource")
    {
        return nodes[node]->memory().find_counter(name, virtual_clock::now());
    }

    // Somebody else's attempt was granted there, raised the counter, and was undone.
    token_number rival_fails_at(std::size_t node, std::string const& name = "resource")
    {
        detail::command c{verb::acquire, name, "rival", 1s};
        c.fenced = true;
        c.retention = 1h;
        auto& memory = nodes[node]->memory();
        auto const r = memory.execute(c, virtual_clock::now(), memory.id);
        BOOST_REQUIRE((r.vote == vote::granted));
        memory.del(name);
        return r.counter;
    }

    std::size_t climbs() const
    {
        std::size_t all = 0;
        for (auto const& n : nodes) all += n->count(verb::climb);
        return all;
    }

    // A node forgets everything, and is admitted again: with a base above all tokens that were given.
    void restart(std::size_t node)
    {
        nodes[node]->cut();
        nodes[node]->restart_empty();
        nodes[node]->connect();
        bool const admitted = advance_until(
            *context, [&] { return client->status().nodes[node].admission == admission_state::admitted; }, 1min);
        BOOST_REQUIRE(admitted);
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(climb_story)

BOOST_FIXTURE_TEST_CASE(a_lease_gets_back_onto_a_node_where_an_attempt_failed, climbing_world)
{
    lease held = acquire();
    auto const token = held.token();
    nodes[2]->del("resource");
    auto const raised = rival_fails_at(2);
    BOOST_TEST(raised > token);
    advance(4s);
    BOOST_TEST(held.nodes_held() == 3u);
    BOOST_TEST(held.token() == token);
    BOOST_TEST(nodes[2]->get("resource").has_value());
    BOOST_TEST(climbs() == 3u, "one, at every node");
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(*counter(i)->value == raised);
    advance(1min);
    BOOST_TEST(held.nodes_held() == 3u);
    BOOST_TEST(climbs() == 3u, "the guard stays");
    give_back(held);
    BOOST_TEST(keys() == 0u);
    lease next = acquire();
    BOOST_TEST(next.token() > raised);
}

BOOST_FIXTURE_TEST_CASE(a_lease_outlives_restarts_of_all_nodes_one_after_the_other, climbing_world)
{
    lease held = acquire();
    auto const token = held.token();
    std::optional<error_code> lost;
    held.wait_lost([&](error_code ec) { lost = ec; });
    for (int turn = 0; turn < 2; ++turn) {
        for (std::size_t i = 0; i < 3; ++i) {
            lease other = acquire({"other"});  // whose token is above, so that bases are
            give_back(other);
            restart(i);
            BOOST_TEST(nodes[i]->memory().record->base > token);
            advance(4s);
            BOOST_TEST(held.nodes_held() == 3u);
        }
    }
    BOOST_TEST(!lost);
    BOOST_TEST(held.token() == token);
    BOOST_TEST(climbs() >= 6u * 2);
    give_back(held);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(without_tokens_a_lease_does_not_come_back_to_a_node_that_forgot, climbing_world)
{
    lease held = acquire({"resource"}, {.ttl = 9s, .fencing = false});
    std::optional<error_code> lost;
    held.wait_lost([&](error_code ec) { lost = ec; });
    nodes[0]->cut();
    nodes[0]->restart_empty();
    nodes[0]->connect();
    advance(30s);
    BOOST_TEST(held.nodes_held() == 2u);
    BOOST_TEST(!lost);
    nodes[1]->cut();
    nodes[1]->restart_empty();
    nodes[1]->connect();
    advance(9s);
    BOOST_TEST((lost == errc::lease_lost));
    BOOST_TEST(climbs() == 0u);
}

BOOST_FIXTURE_TEST_CASE(all_names_of_a_lease_climb_to_one_guard, climbing_world)
{
    lease held = acquire({"a", "b"});
    auto const token = held.token();
    nodes[2]->del("a");
    nodes[2]->del("b");
    rival_fails_at(2, "a");
    auto const raised = rival_fails_at(2, "b");
    advance(4s);
    BOOST_TEST(held.nodes_held() == 3u);
    BOOST_TEST(held.token() == token);
    for (std::size_t i = 0; i < 3; ++i)
        for (char const* name : {"a", "b"}) BOOST_TEST(*counter(i, name)->value >= raised);
    give_back(held);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_lease_does_not_climb_where_somebody_else_holds_a_name_of_it, climbing_world)
{
    lease held = acquire({"a", "b"});
    nodes[2]->del("a");
    nodes[2]->set("a", "theirs");
    nodes[2]->del("b");
    rival_fails_at(2, "b");
    advance(30s);
    BOOST_TEST(held.nodes_held() == 2u);
    BOOST_TEST(climbs() == 0u, "it would not help");
}

BOOST_FIXTURE_TEST_CASE(a_lease_does_not_climb_above_a_majority, climbing_world)
{
    lease held = acquire();
    std::optional<error_code> lost;
    held.wait_lost([&](error_code ec) { lost = ec; });
    for (std::size_t i : {1u, 2u}) {
        nodes[i]->del("resource");
        rival_fails_at(i);  // it may have been complete
    }
    advance(4s);
    BOOST_TEST((lost == errc::lease_lost));
    BOOST_TEST(climbs() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_climb_that_a_minority_answers_leaves_marks_and_is_repeated, climbing_world)
{
    lease held = acquire();
    auto const token = held.token();
    nodes[2]->del("resource");
    auto const raised = rival_fails_at(2);
    nodes[1]->there = 1ms;
    bool const asked = advance_until(*context, [&] { return nodes[0]->count(verb::climb) == 1; }, 1min);
    BOOST_REQUIRE(asked);
    BOOST_REQUIRE(nodes[1]->count(verb::climb) == 0u);
    nodes[1]->stop();
    advance(1s);
    BOOST_REQUIRE(nodes[1]->count(verb::climb) == 0u);
    BOOST_TEST(counter(0)->marked);
    BOOST_TEST(*counter(0)->value == raised);
    auto const before = nodes[0]->count(verb::extend);
    advance(3s);
    BOOST_TEST(nodes[0]->count(verb::extend) > before);
    BOOST_TEST(counter(0)->marked, "an extension leaves it alone");
    BOOST_TEST(held.valid());
    nodes[1]->go_on();
    advance(4s);
    BOOST_TEST(held.nodes_held() == 3u);
    BOOST_TEST(held.token() == token);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(*counter(i)->value == raised);
    BOOST_TEST(!counter(0)->marked);
}

// A node that took part has a counter that a smaller goal would be below.
BOOST_FIXTURE_TEST_CASE(a_climb_goes_no_less_far_than_one_that_failed, climbing_world)
{
    lease held = acquire();
    nodes[2]->del("resource");
    auto const lower = rival_fails_at(2);
    auto const higher = rival_fails_at(2);
    BOOST_REQUIRE(lower < higher);
    nodes[1]->there = 1ms;
    bool const asked = advance_until(*context, [&] { return nodes[0]->count(verb::climb) == 1; }, 1min);
    BOOST_REQUIRE(asked);
    nodes[1]->cut(false);
    advance(100ms);
    BOOST_REQUIRE(*counter(0)->value == higher);
    BOOST_REQUIRE(counter(0)->marked);
    nodes[2]->memory().set_counter("resource", lower, 1h, virtual_clock::now());
    nodes[1]->connect();
    advance(4s);
    BOOST_TEST(held.nodes_held() == 3u);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(*counter(i)->value == higher);
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_is_handed_over_has_climbed, climbing_world)
{
    lease first = acquire({"resource"}, {.ttl = 9s, .max_local_hold = 1min});
    auto const token = first.token();
    nodes[2]->del("resource");
    auto const raised = rival_fails_at(2);
    advance(4s);
    BOOST_REQUIRE(first.nodes_held() == 3u);
    std::optional<lease> second;
    redlock::lock const resource{*client, "resource", {.ttl = 9s, .max_local_hold = 1min}};
    resource.acquire([&](error_code ec, lease got) {
        BOOST_REQUIRE(!ec);
        second = std::move(got);
    });
    settle();
    give_back(first);
    advance(10ms);
    BOOST_REQUIRE(second.has_value());
    BOOST_TEST(second->token() > token);
    BOOST_TEST(second->token() < raised, "of the block that was reserved");
    advance(1min);
    BOOST_TEST(second->nodes_held() == 3u);
    give_back(*second);
    BOOST_TEST(keys() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
