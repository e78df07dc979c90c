// Tokens and admission over nodes in memory: when a second round is needed, what is bound to which server, what comes back to its node,
// and who waits for whom.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <optional>
#include <tuple>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

struct token_world : world {
    explicit token_world(std::size_t node_count = 3, std::chrono::milliseconds largest_ttl = std::chrono::days{30})
        : world{node_count, 8'192, nullptr, largest_ttl}
    {
        start();
    }

    std::tuple<error_code, lease, attempt_report> try_once(lock_options const& options = {.ttl = 10s})
    {
        attempt_report report;
        std::tuple<error_code, lease> result;
        auto story = [&]() -> asio::awaitable<void> {
            redlock::lock resource{*client, "resource", options};
            auto trying = resource.try_acquire(report, asio::as_tuple(asio::use_awaitable));
            result = co_await std::move(trying);
        };
        run(story());
        return {std::get<0>(result), std::move(std::get<1>(result)), report};
    }

    lease acquire(lock_options const& options = {.ttl = 10s})
    {
        auto [ec, held, report] = try_once(options);
        BOOST_REQUIRE_MESSAGE(!ec, ec.message());
        return std::move(held);
    }

    void give_back(lease& held)
    {
        auto story = [&]() -> asio::awaitable<void> {
            auto release = held.release(asio::as_tuple(asio::use_awaitable));
            co_await std::move(release);
        };
        run(story());
        settle();
    }

    std::uint64_t counter(std::size_t node)
    {
        auto const* const found = nodes[node]->memory().find_counter("resource", virtual_clock::now());
        return found && found->value ? *found->value : 0;
    }
    void set_counter(std::size_t node, std::uint64_t value)
    {
        detail::command c{verb::acquire, "resource", "earlier", 1s};
        c.fenced = true;
        c.token = value;
        c.retention = 1h;
        auto& memory = nodes[node]->memory();
        BOOST_REQUIRE((memory.execute(c, virtual_clock::now(), memory.id).vote == vote::granted));
        memory.del("resource");
    }
    admission_state of(std::size_t node) const { return client->status().nodes[node].admission; }
    std::string text(std::size_t node) const { return client->status().nodes[node].admission_text; }

    std::uint64_t wall_clock() const { return static_cast<std::uint64_t>(virtual_clock::now().time_since_epoch() / 1us); }
};

struct world_of_short_ttls : token_world {
    world_of_short_ttls() : token_world{3, 30s} {}
};

// Reserved with each lease, for those whom it may be passed on to.
constexpr token_number for_handoffs = lock_options{}.max_handoffs;

}  // namespace

BOOST_AUTO_TEST_SUITE(token_story)

BOOST_FIXTURE_TEST_CASE(nodes_that_agree_need_one_round, token_world)
{
    lease held = acquire();
    BOOST_TEST(held.token() > 0u);
    BOOST_TEST(held.token() <= wall_clock());
    advance(1s);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(counter(i) == held.token() + for_handoffs);
    for (auto const& n : nodes) BOOST_TEST(n->count(verb::confirm) == 0u);
    BOOST_TEST(counters().confirmations == 0u);
}

// Its confirmation comes after the key has gone there, and after a majority has confirmed.
BOOST_FIXTURE_TEST_CASE(a_refused_confirmation_is_a_node_less_also_after_the_majority, token_world)
{
    set_counter(1, wall_clock() + 5'000'000);
    nodes[2]->there = 3ms;
    std::optional<error_code> result;
    lease held;
    redlock::lock const resource{*client, "resource", {.ttl = 10s, .auto_extend = false}};
    resource.acquire([&](error_code ec, lease l) {
        result = ec;
        held = std::move(l);
    });
    advance(80us);
    nodes[2]->there = 20ms;
    advance(10ms);
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(!*result);
    BOOST_TEST(counters().confirmations == 1u);
    BOOST_TEST(held.nodes_held() == 3u);
    nodes[2]->del("resource");
    advance(20ms);
    BOOST_TEST(nodes[2]->count(verb::confirm) == 1u);
    BOOST_TEST(held.nodes_held() == 2u);
    BOOST_TEST(held.faults_tolerated() == 0u);
    BOOST_TEST(held.valid());
}

// The node with the largest token needs no confirmation, but is asked as well, and its key goes before.
BOOST_FIXTURE_TEST_CASE(a_refused_confirmation_does_not_end_a_lease_on_a_bare_majority, token_world)
{
    set_counter(0, wall_clock() + 5'000'000);
    nodes[2]->stop();
    std::optional<error_code> result;
    lease held;
    redlock::lock const resource{*client, "resource", {.ttl = 10s}};
    resource.acquire([&](error_code ec, lease l) {
        result = ec;
        held = std::move(l);
    });
    advance(80us);
    nodes[0]->there = 20ms;
    advance(10ms);
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(!*result);
    BOOST_TEST(held.faults_tolerated() == 0u);
    nodes[0]->del("resource");
    advance(20ms);
    BOOST_TEST(nodes[0]->count(verb::confirm) == 1u);
    BOOST_TEST(!nodes[0]->get("resource").has_value());
    BOOST_TEST(held.valid());
    advance(1s);
    BOOST_TEST(held.valid());
    BOOST_TEST(nodes[0]->get("resource").has_value(), "an extension has set it again");
    BOOST_TEST(counters().leases_lost == 0u);
}

BOOST_FIXTURE_TEST_CASE(nodes_that_differ_confirm_the_largest_token, token_world)
{
    auto const ahead = wall_clock() + 5'000'000;
    set_counter(1, ahead);
    nodes[2]->there = 20ms;  // the first two differ
    lease held = acquire();
    BOOST_TEST(held.token() == ahead + 1);
    BOOST_TEST(counters().confirmations == 1u);
    advance(1s);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(counter(i) == held.token() + for_handoffs);
    BOOST_TEST(held.nodes_held() == 3u);
    give_back(held);
    lease again = acquire();  // the client follows the clock that is ahead
    BOOST_TEST(again.token() > held.token());
    BOOST_TEST(counters().confirmations == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_confirmation_that_finds_a_larger_token_loses_the_attempt, token_world)
{
    set_counter(1, wall_clock() + 5'000'000);
    nodes[2]->there = 20ms;
    nodes[0]->back = 10ms;  // while its answer is on the way, somebody's token passes it
    std::optional<error_code> ended;
    redlock::lock const resource{*client, "resource", {.ttl = 10s}};
    resource.try_acquire([&](error_code ec, lease) { ended = ec; });
    advance(1ms);
    auto& memory = nodes[0]->memory();
    memory.find_counter("resource", virtual_clock::now())->value = wall_clock() + 9'000'000;
    memory.find("resource", virtual_clock::now())->value = "somebody else's";
    nodes[2]->set("resource", "somebody else's");
    advance(1s);
    BOOST_REQUIRE(ended.has_value());
    BOOST_TEST(*ended == errc::split_votes, "one of three had granted it: " << ended->message());
    BOOST_TEST((*ended == condition::contended));
    BOOST_TEST(!nodes[1]->get("resource").has_value(), "what was granted is given back");
}

BOOST_FIXTURE_TEST_CASE(an_attempt_is_bound_to_one_server_a_node, token_world)
{
    set_counter(1, wall_clock() + 5'000'000);
    nodes[2]->stop();
    nodes[0]->back = 10ms;
    std::optional<error_code> ended;
    redlock::lock const resource{*client, "resource", {.ttl = 10s}};
    resource.try_acquire([&](error_code ec, lease) { ended = ec; });
    advance(1ms);
    // The node was executed, and loses its admission before its answer is there; when it confirms, it is another server with a new
    // admission that knows the key.
    auto& memory = nodes[0]->memory();
    memory.id = "somebody new";
    memory.record->id = memory.id;
    advance(2s);
    BOOST_REQUIRE(ended.has_value());
    BOOST_TEST(*ended == errc::no_majority);
    nodes[2]->go_on();
    advance(1s);
    BOOST_TEST(keys() == 0u);
}

// A node that was away in between, and confirms under a new admission, may be one that has forgotten and been told since.
BOOST_FIXTURE_TEST_CASE(a_confirmation_under_another_admission_does_not_count, token_world)
{
    set_counter(1, wall_clock() + 5'000'000);
    nodes[2]->stop();
    nodes[1]->back = 10ms;
    std::optional<error_code> ended;
    redlock::lock const resource{*client, "resource", {.ttl = 10s}};
    resource.try_acquire([&](error_code ec, lease) { ended = ec; });
    advance(1ms);  // one answer is there, the other one is not
    nodes[0]->cut();
    nodes[0]->connect();
    advance(2s);
    BOOST_TEST(nodes[0]->count(verb::confirm) == 1u);
    BOOST_REQUIRE(ended.has_value());
    BOOST_TEST(*ended == errc::no_majority);
    nodes[2]->go_on();
    advance(1s);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_missing_key_is_set_again_before_an_extension_is_due, token_world)
{
    nodes[2]->set("resource", "foreign", 30ms);
    lease held = acquire({.ttl = 9s});  // an extension is due after 3 s
    BOOST_TEST(held.nodes_held() == 2u);
    BOOST_TEST(held.faults_tolerated() == 0u);
    advance(1s);
    BOOST_TEST(held.nodes_held() == 3u);
    BOOST_TEST(held.faults_tolerated() == 1u);
    BOOST_TEST(counters().recreated == 1u);
}

BOOST_FIXTURE_TEST_CASE(a_key_that_cannot_be_set_again_is_tried_less_and_less_often, token_world)
{
    nodes[2]->set("resource", "foreign");
    lease held = acquire({.ttl = 9s});
    advance(3s);
    auto const extra = nodes[2]->count(verb::extend);
    BOOST_TEST(extra >= 3u);
    BOOST_TEST(extra <= 7u);
    advance(27s);
    BOOST_TEST(nodes[2]->count(verb::extend) <= extra + 10u);
    BOOST_TEST(held.valid());
}

BOOST_FIXTURE_TEST_CASE(nothing_is_set_again_without_tokens, token_world)
{
    lease held = acquire({.ttl = 9s, .fencing = false});
    BOOST_TEST(held.token() == 0u);
    advance(1s);
    nodes[2]->del("resource");
    advance(10s);
    BOOST_TEST(!nodes[2]->get("resource").has_value());
    BOOST_TEST(held.nodes_held() == 2u);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_forgot_has_no_vote_and_its_queue_does_not_wait, token_world)
{
    nodes[1]->restart_empty();
    nodes[2]->stop();
    auto [ec, nothing, report] = try_once({.ttl = 10s, .node_timeout = 100ms});
    BOOST_TEST(ec == errc::no_majority);
    BOOST_TEST((of(1) == admission_state::quarantined));
    auto const begin = virtual_clock::now();
    auto [again, nobody, told] = try_once({.ttl = 10s, .node_timeout = 100ms});
    BOOST_TEST(again == errc::no_majority);
    BOOST_TEST(told.nodes[1].error == errc::node_not_admitted);
    BOOST_TEST(told.nodes[1].detail.find("left until") != std::string::npos, told.nodes[1].detail);
    BOOST_TEST((virtual_clock::now() - begin <= 100ms));
    // What needs no admission is not kept waiting either.
    nodes[2]->go_on();
    settle();
    lease plain = acquire({.ttl = 10s, .fencing = false});
    advance(1s);
    BOOST_TEST(plain.nodes_held() == 3u);
}

BOOST_FIXTURE_TEST_CASE(a_lease_does_not_count_on_a_node_that_forgot_it, token_world)
{
    lease held = acquire({.ttl = 9s});
    advance(100ms);
    nodes[0]->restart_empty();
    advance(10s);
    BOOST_TEST(held.valid(), "the others are a majority");
    BOOST_TEST(held.nodes_held() == 2u);
    nodes[1]->restart_empty();
    std::optional<error_code> lost;
    held.wait_lost([&](error_code ec) { lost = ec; });
    advance(9s);
    BOOST_REQUIRE(lost.has_value());
    BOOST_TEST(*lost == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(a_restart_with_all_its_memory_costs_a_quarantine_and_no_lease, token_world)
{
    lease held = acquire({.ttl = 9s});
    advance(100ms);
    nodes[0]->restart_with_all();
    advance(5s);
    BOOST_TEST((of(0) == admission_state::quarantined));
    BOOST_TEST(held.valid());
    give_back(held);
    BOOST_TEST(keys() == 0u, "a release needs no admission");
}

// The mark on the server says that it is the same loss, so the connection has no part in how long it is waited for.
BOOST_FIXTURE_TEST_CASE(a_quarantine_goes_on_while_its_node_is_not_connected, world_of_short_ttls)
{
    nodes[0]->restart_with_all();
    lease held = acquire();
    give_back(held);
    advance(100ms);
    BOOST_TEST_REQUIRE((of(0) == admission_state::quarantined));
    advance(max_ttl - 5s);
    nodes[0]->cut();
    advance(1s);
    nodes[0]->connect();
    advance(100ms);
    BOOST_TEST((of(0) == admission_state::quarantined));
    advance(6s);
    BOOST_TEST((of(0) == admission_state::admitted));
}

BOOST_FIXTURE_TEST_CASE(another_loss_begins_another_quarantine, world_of_short_ttls)
{
    nodes[0]->restart_with_all();
    lease held = acquire();
    give_back(held);
    advance(max_ttl - 5s);
    nodes[0]->cut();
    nodes[0]->restart_with_all();
    nodes[0]->connect();
    advance(max_ttl - 5s);
    BOOST_TEST((of(0) == admission_state::quarantined));
    advance(10s);
    BOOST_TEST((of(0) == admission_state::admitted));
}

BOOST_FIXTURE_TEST_CASE(the_counter_of_a_long_lease_is_kept_with_few_refreshes, token_world)
{
    lease held = acquire({.ttl = 9s});
    advance(50min);  // the retention is an hour
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(counter(i) == held.token() + for_handoffs);
    advance(2h);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(counter(i) == held.token() + for_handoffs);
    BOOST_TEST(held.valid());
    give_back(held);
    advance(61min);
    for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(counter(i) == 0u);
}

// Whoever waits for a new beginning waits for all nodes, and for one of them in vain.
BOOST_FIXTURE_TEST_CASE(a_node_that_is_refused_is_told_from_one_that_is_away, token_world)
{
    for (std::size_t i = 0; i < 2; ++i) {
        nodes[i]->cut();
        nodes[i]->restart_empty();
        nodes[i]->connect();
    }
    nodes[2]->cut(true, errc::node_unsuitable, "the server is a replica");
    try_once();
    BOOST_TEST((of(0) == admission_state::quarantined));
    BOOST_TEST(text(0).ends_with(" (refused, which waiting does not change: node2)"), text(0));
    BOOST_TEST(text(2) == "it is not connected: the server is a replica");
    nodes[2]->connect();
    nodes[2]->cut();
    BOOST_TEST(text(0).ends_with(" (not connected: node2)"), text(0));
    BOOST_TEST(text(2) == "it is not connected: cut");
}

BOOST_AUTO_TEST_SUITE_END()
