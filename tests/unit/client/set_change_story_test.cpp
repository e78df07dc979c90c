// A member of a set is replaced while clients with the old list of nodes and with the new one lock, over nodes in memory and in virtual time.
#include "support/world.hpp"

#include "quorum/sets/set_change.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;

constexpr auto max_ttl = 10s;
constexpr std::size_t servers = 5, leaves = 2, joins = 3;

std::string name_of(std::size_t server) { return "node" + std::to_string(server); }

// Three servers are a set, and two more are empty.
struct changing_world {
    struct member {
        std::vector<std::size_t> list;
        std::vector<std::unique_ptr<memory_node>> nodes;
        std::optional<redlock::client> client;
    };

    changing_world()
    {
        quorum::set_record set{"s", 0, 0, true, 0, 0, {}, {name_of(0), name_of(1), name_of(2)}};
        for (std::size_t i = 0; i < servers; ++i) {
            own.push_back(std::make_unique<memory_node>(name_of(i), max_ttl));
            if (set.has(name_of(i))) own[i]->memory().set_record = quorum::to_text(set);
            else own[i]->restart_empty();
        }
    }

    ~changing_world()
    {
        context.reset();
        members.clear();
    }

    redlock::client& add(std::vector<std::size_t> const& list)
    {
        auto& added = begin(list);
        advance(10ms);
        return added;
    }

    // It has met no server yet.
    redlock::client& begin(std::vector<std::size_t> const& list)
    {
        auto& m = *members.emplace_back(std::make_unique<member>());
        m.list = list;
        asio::any_io_executor const executor = context->get_executor();
        asio::strand<asio::any_io_executor> const strand{executor};
        std::vector<std::unique_ptr<detail::node>> fronts;
        detail::engine_settings settings;
        for (auto const i : list) {
            fronts.push_back(m.nodes.emplace_back(own[i]->another())->front(strand));
            settings.sets.members.push_back(name_of(i));
        }
        settings.max_ttl = max_ttl;
        settings.bootstrap = bootstrap;
        settings.jitter_seed = ++seeds;
        settings.wall_clock = [] { return static_cast<std::uint64_t>(virtual_clock::now().time_since_epoch() / 1us); };
        settings.fresh_value = [this] { return "value" + std::to_string(++values); };
        m.client.emplace(
            detail::access::make_client(detail::basic_core<virtual_clock>::make(executor, strand, std::move(fronts), std::move(settings))));
        m.client->run([](error_code) {});
        return *m.client;
    }

    void advance(duration d) { testing::advance(*context, d); }

    error_code once(redlock::client& of, std::string const& name, std::optional<lease>* keep = nullptr)
    {
        lock const resource{of, name, {.ttl = 5s, .node_timeout = 1s}};
        std::optional<error_code> result;
        resource.try_acquire([&](error_code ec, lease got) {
            result = ec;
            if (keep && !ec) keep->emplace(std::move(got));
        });
        BOOST_TEST_REQUIRE(advance_until(*context, [&] { return result.has_value(); }, 1min));
        return *result;
    }

    error_code release(lease& held)
    {
        std::optional<error_code> result;
        held.release([&](error_code ec) { result = ec; });
        BOOST_TEST_REQUIRE(advance_until(*context, [&] { return result.has_value(); }, 2s));
        return *result;
    }

    // A lease that one member does not have: somebody else has the key there for so long.
    lease without_a_member(redlock::client& of, duration taken)
    {
        own[1]->set("job", "somebody's", taken);
        std::optional<lease> held;
        BOOST_TEST_REQUIRE(once(of, "job", &held) == error_code{});
        return std::move(*held);
    }

    // What the command would do now.
    quorum::set_change plan(std::size_t which_joins = joins)
    {
        std::vector<quorum::server_view> all;
        for (std::size_t i = 0; i < servers; ++i) {
            all.push_back({name_of(i), own[i]->memory().facts(), ""});
            if (unreachable == i) all.back().facts.reset();
        }
        return quorum::set_change{all, {name_of(leaves), {name_of(which_joins)}}};
    }

    void carry_out(quorum::set_change::step const& s)
    {
        detail::command c{detail::verb::claim, {}, s.text, {}};
        c.change_more().former = s.expected;
        c.change_more().id = s.id;
        c.stays = s.stays;
        own[s.server]->memory().execute(c, virtual_clock::now());
    }

    void replace()
    {
        auto const p = plan();
        BOOST_TEST_REQUIRE(p.why() == "");
        for (auto const& s : p.steps()) carry_out(s);
    }

    // The command's steps, with a member more or less.
    void change(std::optional<std::size_t> who_leaves, std::optional<std::size_t> who_joins)
    {
        std::vector<quorum::server_view> all;
        for (std::size_t i = 0; i < servers; ++i) all.push_back({name_of(i), own[i]->memory().facts(), ""});
        quorum::wanted_change wanted;
        if (who_leaves) wanted.leaves = name_of(*who_leaves);
        if (who_joins) wanted.join.push_back(name_of(*who_joins));
        quorum::set_change const p{all, wanted};
        BOOST_TEST_REQUIRE(p.why() == "");
        for (auto const& s : p.steps()) carry_out(s);
    }

    // A connection that a client has given up, since the server's set is another one, is made again.
    void reconnect()
    {
        for (auto& m : members)
            for (auto& n : m->nodes)
                if (n->wants_connection() && !n->refuse_connections) n->connect();
    }

    bool is_admitted(std::size_t server) { return own[server]->memory().admitted(); }
    void kill(std::size_t server)
    {
        unreachable = server;
        for (auto& m : members) {
            for (std::size_t i = 0; i < m->list.size(); ++i) {
                if (m->list[i] != server) continue;
                m->nodes[i]->refuse_connections = true;
                m->nodes[i]->cut();
            }
        }
    }

    std::unique_ptr<asio::io_context> context = std::make_unique<asio::io_context>();
    std::vector<std::unique_ptr<memory_node>> own;  // one connection to each server, which nobody uses
    std::vector<std::unique_ptr<member>> members;
    std::optional<std::size_t> unreachable;
    bool bootstrap{false};
    std::uint32_t seeds{0};
    int values{0};
    std::vector<std::size_t> const old_list{0, 1, leaves}, new_list{0, 1, joins};
};

BOOST_AUTO_TEST_SUITE(changes_of_a_set)

BOOST_FIXTURE_TEST_CASE(a_lease_is_held_over_a_change_and_clients_of_both_lists_lock, changing_world)
{
    auto& old = add(old_list);
    std::optional<lease> held;
    BOOST_TEST_REQUIRE(once(old, "job", &held) == error_code{});
    replace();
    advance(100ms);
    BOOST_TEST(held->valid());
    BOOST_TEST(!is_admitted(joins));
    BOOST_TEST(once(old, "other") == errc::no_majority);  // it hears of the change by that, and asks the nodes again
    advance(10ms);
    BOOST_TEST(once(old, "other") == error_code{});

    auto& fresh = add(new_list);
    BOOST_TEST((once(fresh, "job") == condition::contended));
    BOOST_TEST(once(fresh, "other") == error_code{});
    advance(max_ttl / 2);
    BOOST_TEST(!is_admitted(joins));
    advance(max_ttl);
    BOOST_TEST(is_admitted(joins));
    BOOST_TEST((once(fresh, "job") == condition::contended));
    BOOST_TEST(held->valid());
    BOOST_TEST(old.status().nodes[leaves].last_error == errc::wrong_node_set);

    // The new member counts.
    kill(1);
    advance(2s);
    BOOST_TEST(once(fresh, "other") == error_code{});
    BOOST_TEST(once(old, "other") == errc::no_majority);
}

BOOST_FIXTURE_TEST_CASE(a_dead_member_is_replaced, changing_world)
{
    auto& old = add(old_list);
    std::optional<lease> held;
    BOOST_TEST_REQUIRE(once(old, "job", &held) == error_code{});
    kill(leaves);
    advance(3s);
    replace();
    auto& fresh = add(new_list);
    BOOST_TEST((once(fresh, "job") == condition::contended));
    advance(2 * max_ttl);
    BOOST_TEST(is_admitted(joins));
    BOOST_TEST(held->valid());
    BOOST_TEST((once(fresh, "job") == condition::contended));
    held.reset();
    advance(100ms);
    BOOST_TEST(once(fresh, "job") == error_code{});
}

// The lease stands on a member that stays, and on the one that leaves.
BOOST_FIXTURE_TEST_CASE(a_lease_on_the_member_that_leaves_goes_on, changing_world)
{
    lease const held = without_a_member(add(old_list), 200ms);
    replace();
    advance(20ms);
    BOOST_TEST(held.valid());
    advance(2 * max_ttl);
    BOOST_TEST(held.valid());
}

// Half of the lease's keys are on a server that has left. That a member has somebody else's does not show that it was lost.
BOOST_FIXTURE_TEST_CASE(a_lease_on_the_member_that_leaves_is_released, changing_world)
{
    lease held = without_a_member(add(old_list), 1min);
    replace();
    advance(100ms);
    BOOST_TEST_REQUIRE(held.valid());
    auto const ec = release(held);
    BOOST_TEST((ec == error_code{} || ec == errc::release_unconfirmed), ec.message());
}

// Its answer is on its way when the client follows the set into another generation, in which it is a member, too.
BOOST_FIXTURE_TEST_CASE(a_vote_of_the_generation_before_does_not_count, changing_world)
{
    auto& old = add(old_list);
    auto& nodes = members.back()->nodes;
    nodes[0]->back = 300ms;
    own[1]->set("job", "somebody's", 1min);
    nodes[leaves]->stop();
    attempt_report report;
    std::optional<error_code> result;
    lock{old, "job", {.ttl = 5s, .node_timeout = 1s}}.try_acquire(report, [&](error_code ec, lease const&) { result = ec; });
    advance(1ms);
    BOOST_TEST(own[0]->get("job").has_value());
    for (int i = 0; i < 2; ++i) replace();  // the second says that a majority has moved
    lock{old, "other", {.ttl = 5s, .node_timeout = 1s}}.try_acquire([](error_code, lease const&) {});
    BOOST_TEST_REQUIRE(advance_until(*context, [&] { return result.has_value(); }, 10s));
    BOOST_TEST(report.nodes[0].detail == "the set of nodes was changed meanwhile", report);
}

BOOST_FIXTURE_TEST_CASE(when_one_member_has_heard_of_it_the_others_go_on, changing_world)
{
    auto& old = add(old_list);
    auto const begun = plan();
    carry_out(begun.steps()[0]);
    for (int i = 0; i < 5; ++i) {
        BOOST_TEST(once(old, "other") == error_code{});
        advance(100ms);
    }
    auto& fresh = add(new_list);
    BOOST_TEST(once(fresh, "other") != error_code{});
    advance(3 * max_ttl);
    BOOST_TEST(own[joins]->memory().set_record == "");
    carry_out(plan().steps()[0]);
    BOOST_TEST(once(old, "other") == errc::no_majority);  // it hears of the change by that, and asks the nodes again
    advance(10ms);
    BOOST_TEST(once(old, "other") == error_code{});
    reconnect();
    advance(3s);
    BOOST_TEST(once(fresh, "other") == error_code{});
}

// Clients of both lists try to get one lock all the time, while commands begin and stop, and a server loses its data.
BOOST_AUTO_TEST_CASE(nobody_holds_a_lock_beside_somebody_else_whatever_happens_when)
{
    int held_in_both = 0, admitted = 0;
    for (std::uint32_t seed = 1; seed <= 150; ++seed) {
        changing_world w;
        std::minstd_rand chance{seed};
        auto const below = [&](std::uint32_t n) { return chance() % n; };
        std::vector<redlock::client*> clients{&w.add(w.old_list), &w.add(w.old_list), &w.add(w.new_list)};
        for (auto& m : w.members)
            for (auto& n : m->nodes) n->lingers = [&chance] { return duration{1ms} * (chance() % 300); };
        std::vector<std::optional<lease>> leases(clients.size());
        std::array<bool, 3> tries{};
        bool changed = false;
        std::uint64_t last_token = 0;
        for (int step = 0; step < 500; ++step) {
            w.advance(duration{1ms} * below(200));
            w.reconnect();
            auto const i = below(3);
            if (leases[i] && below(3) == 0) {
                leases[i].reset();
            } else if (!leases[i] && !std::exchange(tries[i], true)) {
                lock{*clients[i], "job", {.ttl = 5s, .node_timeout = 1s}}.try_acquire(
                    [&, i, before = last_token](error_code ec, lease got) {
                        tries[i] = false;
                        if (ec) return;
                        BOOST_TEST(got.token() > before, "seed " << seed);
                        last_token = std::max(last_token, got.token());
                        leases[i].emplace(std::move(got));
                    });
            }
            if (step > 30 && below(40) == 0) {
                auto const p = w.plan(below(8) == 0 ? joins + 1 : joins);
                std::size_t const most = below(3);
                for (std::size_t s = 0; s < std::min(most, p.steps().size()); ++s) w.carry_out(p.steps()[s]);
                changed = changed || p.moved() >= 2;
            }
            if (changed && below(300) == 0) w.own[below(2)]->restart_empty();
            std::size_t valid = 0;
            for (auto const& l : leases) valid += l && l->valid();
            BOOST_TEST(valid <= 1u, "seed " << seed << ", step " << step);
        }
        held_in_both += changed && leases[2].has_value();
        admitted += w.is_admitted(joins);
        leases.clear();
    }
    BOOST_TEST(held_in_both > 0);
    BOOST_TEST(admitted > 30);
}

BOOST_FIXTURE_TEST_CASE(a_lease_is_held_while_the_set_grows, changing_world)
{
    auto& old = add(old_list);
    std::optional<lease> held;
    BOOST_TEST_REQUIRE(once(old, "job", &held) == error_code{});
    change({}, joins);
    advance(100ms);
    BOOST_TEST(held->valid());
    BOOST_TEST(once(old, "other") == errc::no_majority);  // as with a replacement
    advance(10ms);
    BOOST_TEST(once(old, "other") == error_code{}, "all three of the list");
    auto& fresh = add({0, 1, 2, joins});
    BOOST_TEST((once(fresh, "job") == condition::contended));
    advance(2 * max_ttl);
    BOOST_TEST(is_admitted(joins));
    BOOST_TEST(held->valid());
    BOOST_TEST((once(fresh, "job") == condition::contended));

    // Three of four are a majority, two are none.
    kill(1);
    advance(2s);
    BOOST_TEST(once(fresh, "other") == error_code{});
    BOOST_TEST(once(old, "other") == errc::no_majority);
    kill(0);
    advance(2s);
    BOOST_TEST(once(fresh, "other") == errc::no_majority);
}

BOOST_FIXTURE_TEST_CASE(a_lease_is_told_how_many_members_the_set_has, changing_world)
{
    std::optional<lease> held;
    BOOST_TEST_REQUIRE(once(add(old_list), "job", &held) == error_code{});
    BOOST_TEST(held->nodes_held() == 3u);
    BOOST_TEST(held->faults_tolerated() == 1u);
    change({}, joins);
    add({0, 1, 2, joins});
    advance(2 * max_ttl);
    change({}, joins + 1);
    add({0, 1, 2, joins, joins + 1});
    advance(2 * max_ttl);
    BOOST_TEST(held->nodes_held() == 3u);
    BOOST_TEST(held->faults_tolerated() == 0u, "three of five are a majority, and two are none");
}

// Its votes for an extension that it has to answer are of the generation before, and do not count.
BOOST_FIXTURE_TEST_CASE(a_member_that_has_an_extension_to_answer_gets_another_one_when_the_set_has_grown, changing_world)
{
    auto& old = add(old_list);
    auto& slow = *members.back()->nodes[leaves];
    std::optional<lease> held;
    BOOST_TEST_REQUIRE(once(old, "job", &held) == error_code{});
    slow.back = 1s;
    BOOST_TEST_REQUIRE(advance_until(*context, [&] { return slow.count(detail::verb::extend) == 1; }, 5s));
    for (int i = 0; i < 2; ++i) change({}, joins);  // the second says that a majority has moved
    lock{old, "other", {.ttl = 5s, .node_timeout = 1s}}.try_acquire([](error_code, lease const&) {});
    advance(1200ms);
    BOOST_TEST(slow.count(detail::verb::extend) == 2u, "before the next one would be due");
}

// It has two of three members, and of four members that is no majority.
BOOST_FIXTURE_TEST_CASE(an_adoption_that_began_before_the_set_grew_needs_the_larger_majority, changing_world)
{
    std::optional<lease> held;
    BOOST_TEST_REQUIRE(once(add(old_list), "job", &held) == error_code{});
    auto const ticket = held->detach();
    advance(1ms);
    auto& heir = add(old_list);
    auto& late = *members.back()->nodes[leaves];
    late.stop();
    own[1]->set("job", "somebody's", 1min);
    std::optional<error_code> result;
    heir.adopt(ticket, [&](error_code ec, lease const&) { result = ec; });
    advance(1ms);
    for (int i = 0; i < 2; ++i) change({}, joins);  // the second says that a majority has moved
    lock{heir, "other", {.ttl = 5s, .node_timeout = 1s}}.try_acquire([](error_code, lease const&) {});
    advance(100ms);
    BOOST_TEST_REQUIRE(!result.has_value());
    late.go_on();
    BOOST_TEST_REQUIRE(advance_until(*context, [&] { return result.has_value(); }, 10s));
    BOOST_TEST(*result == errc::lease_lost, result->message());
}

// It has a majority of three members, and of four members it has none.
BOOST_FIXTURE_TEST_CASE(a_lease_that_lacks_a_member_is_held_while_the_set_grows, changing_world)
{
    lease const held = without_a_member(add(old_list), 200ms);
    change({}, joins);
    advance(100ms);
    BOOST_TEST(held.valid(), "the third refuses still");
    advance(2 * max_ttl);
    BOOST_TEST(held.valid());
}

// The third has a newer token of an attempt that failed.
BOOST_FIXTURE_TEST_CASE(a_lease_that_has_to_climb_is_held_while_the_set_grows, changing_world)
{
    auto& old = add(old_list);
    auto& rival = add(old_list);
    lease const held = without_a_member(old, 20ms);
    advance(25ms);
    BOOST_TEST((once(rival, "job") == condition::contended));
    change({}, joins);
    advance(2 * max_ttl);
    BOOST_TEST(held.valid());
}

BOOST_FIXTURE_TEST_CASE(a_lease_without_the_larger_majority_ends_when_it_would_have_without_extensions, changing_world)
{
    lease const held = without_a_member(add(old_list), 1min);
    change({}, joins);
    advance(4s);
    BOOST_TEST(held.valid());
    BOOST_TEST((once(add({0, 1, 2, joins}), "job") == condition::contended));
    advance(1s);
    BOOST_TEST(!held.valid());
}

BOOST_FIXTURE_TEST_CASE(a_lease_without_the_larger_majority_is_released, changing_world)
{
    lease held = without_a_member(add(old_list), 1min);
    change({}, joins);
    advance(100ms);
    BOOST_TEST_REQUIRE(held.valid());
    BOOST_TEST(release(held) == error_code{});
}

// The set has as many members as the client's list again, and the lease is of the time between.
BOOST_FIXTURE_TEST_CASE(a_lease_of_a_smaller_set_is_released_when_it_has_grown_back, changing_world)
{
    std::vector<std::size_t> const all{0, 1, 2, joins};
    add(old_list);
    for (int i = 0; i < 3; ++i) change({}, joins), advance(3 * max_ttl);
    for (int i = 0; i < 3; ++i) change(joins, {}), advance(3 * max_ttl);
    lease held = without_a_member(add(all), 1min);
    own[joins]->restart_empty();
    change({}, joins);
    advance(100ms);
    BOOST_TEST_REQUIRE(held.valid());
    BOOST_TEST(release(held) == error_code{});
}

BOOST_FIXTURE_TEST_CASE(a_lease_is_held_while_the_set_shrinks, changing_world)
{
    auto& old = add(old_list);
    std::optional<lease> held;
    BOOST_TEST_REQUIRE(once(old, "job", &held) == error_code{});
    change(leaves, {});
    advance(100ms);
    BOOST_TEST(held->valid());
    advance(2s);
    BOOST_TEST(once(old, "other") == error_code{});
    auto& fresh = add({0, 1});
    BOOST_TEST((once(fresh, "job") == condition::contended));
    BOOST_TEST(once(fresh, "other") == error_code{});
    advance(2 * max_ttl);
    BOOST_TEST(held->valid());
    BOOST_TEST(held->nodes_held() == 2u);
    kill(1);
    advance(2s);
    BOOST_TEST(once(fresh, "other") == errc::no_majority, "two of two are needed");
    BOOST_TEST(once(old, "other") == errc::no_majority, "what the one that left says does not count");
}

BOOST_AUTO_TEST_CASE(a_client_that_meets_a_member_that_left_first_gets_a_lock_with_its_first_try)
{
    for (bool const is_closed : {false, true}) {
        changing_world w;
        w.add(w.old_list);
        w.change(leaves, {});
        w.advance(3 * max_ttl);
        for (int i = 0; is_closed && i < 3; ++i) w.change(leaves, {});  // so that the one that left is a generation behind
        auto const generation = [&](std::size_t server) {
            return quorum::read_set_text(w.own[server]->memory().facts().set).record.generation;
        };
        BOOST_TEST(generation(0) == generation(leaves) + (is_closed ? 1 : 0));
        auto& fresh = w.begin({leaves, 0, 1});
        auto& nodes = w.members.back()->nodes;
        for (std::size_t i : {1u, 2u}) nodes[i]->connects_late = true;
        std::optional<error_code> result;
        lock{fresh, "job", {.ttl = 5s, .node_timeout = 1s}}.try_acquire([&](error_code ec, lease const&) { result = ec; });
        w.advance(5ms);
        BOOST_TEST(!result.has_value());
        for (std::size_t i : {1u, 2u}) nodes[i]->connect();
        w.advance(10ms);
        BOOST_TEST_REQUIRE(result.has_value());
        BOOST_TEST(*result == error_code{}, result->message() << (is_closed ? ", closed" : ", open"));
    }
}

// A client of a set of two servers hears while it asks that one of them has left: what that one answers is no proof that the list is wrong.
BOOST_AUTO_TEST_CASE(an_attempt_that_began_before_a_member_left_is_no_proof_of_a_wrong_list)
{
    for (auto const later : {0ms, 1ms, 2ms, 4ms, 8ms}) {
        changing_world w;
        w.add(w.old_list);
        w.change(leaves, {});
        w.advance(3 * max_ttl);
        auto& client = w.add({0, 1});
        BOOST_TEST_REQUIRE(w.once(client, "job") == error_code{});
        w.members.back()->nodes[1]->there = 100us + later;
        for (int i = 0; i < 3; ++i) w.change(1, {});  // also the last step, which says that a majority has moved
        std::optional<error_code> result;
        lock const job{client, "job", {.ttl = 5s, .node_timeout = 1s, .acquire_timeout = 8s}};
        job.acquire([&](error_code ec, lease const&) { result = ec; });
        BOOST_TEST_REQUIRE(advance_until(*w.context, [&] { return result.has_value(); }, 10s));
        BOOST_TEST(*result == error_code{}, result->message() << ", " << later.count() << " ms later");
    }
}

// The server that shows that the list is wrong is met while requests are on their way to the members of the set, or have been answered. The program ends at once,
// so no later connection takes what it has to release.
BOOST_AUTO_TEST_CASE(a_wrong_list_leaves_no_key_on_members_of_the_set)
{
    for (auto const met_after : {0ms, 2ms, 4ms, 6ms, 9ms}) {
        changing_world w;
        auto& wrong = w.begin(w.new_list);
        auto& nodes = w.members.back()->nodes;
        nodes[2]->connects_late = true;
        w.advance(1ms);
        for (std::size_t i : {0u, 1u}) nodes[i]->there = nodes[i]->back = 5ms;
        std::optional<error_code> result;
        time_point ended_at{};
        lock{wrong, "job", {.ttl = 5s, .node_timeout = 1s}}.try_acquire([&](error_code ec, lease const&) {
            result = ec;
            ended_at = virtual_clock::now();
            wrong.cancel();
        });
        w.advance(met_after);
        nodes[2]->connect();
        BOOST_TEST_REQUIRE(advance_until(*w.context, [&] { return result.has_value(); }, 100ms));
        BOOST_TEST((*result == errc::wrong_node_set), result->message() << ", met after " << met_after.count() << " ms");
        w.advance(1s);
        for (std::size_t i : {0u, 1u}) {
            BOOST_TEST(nodes[i]->count(detail::verb::acquire) == 1u);
            BOOST_TEST_REQUIRE(nodes[i]->count(detail::verb::release) >= 1u);
            BOOST_TEST((nodes[i]->received.back().at >= ended_at + nodes[i]->there), "the client has waited for the release");
            BOOST_TEST(!w.own[i]->get("job"), "met after " << met_after.count() << " ms");
        }
    }
}

// Its connection is lost with the lease, and when there is one again, it is of another set.
BOOST_FIXTURE_TEST_CASE(a_server_that_is_refused_whenever_it_connects_takes_releases, changing_world)
{
    auto& client = add(old_list);
    std::optional<lease> held;
    BOOST_TEST_REQUIRE(once(client, "job", &held) == error_code{});
    members.back()->nodes[1]->cut();
    BOOST_TEST(release(*held) == error_code{});
    BOOST_TEST(own[1]->get("job").has_value());
    quorum::set_record const another{"t", 0, 0, true, 0, 0, {}, {name_of(1), name_of(joins), name_of(4)}};
    own[1]->memory().set_record = quorum::to_text(another);
    reconnect();
    advance(10ms);
    BOOST_TEST(client.status().nodes[1].last_error == errc::wrong_node_set);
    BOOST_TEST(!own[1]->get("job"));
    BOOST_TEST(!members.back()->nodes[1]->wants_connection(), "it is connected for some time");
    advance(1s);
    BOOST_TEST(members.back()->nodes[1]->wants_connection());
    BOOST_TEST(client.status().nodes[1].last_error == errc::wrong_node_set);
    reconnect();
    advance(10ms);
    BOOST_TEST(members.back()->nodes[1]->wants_connection(), "nothing is to be released there any more");
}

// Without tokens, a server that has left grants what others hold. It is met first, when nobody has told which servers are members.
BOOST_FIXTURE_TEST_CASE(what_a_server_that_has_left_grants_does_not_count, changing_world)
{
    add(old_list);
    for (int i = 0; i < 3; ++i) change(leaves, {}), advance(3 * max_ttl);
    for (int i = 0; i < 3; ++i) change(1, {}), advance(3 * max_ttl);
    lock_options const unfenced{.ttl = 5s, .fencing = false, .node_timeout = 1s};
    auto& holder = add({0});
    std::optional<lease> held;
    lock{holder, "job", unfenced}.try_acquire([&](error_code ec, lease got) {
        if (!ec) held.emplace(std::move(got));
    });
    advance(10ms);
    BOOST_TEST_REQUIRE(held.has_value());
    auto& fresh = begin({0, 1});
    auto& late = members.back()->nodes[0];
    late->connects_late = true;
    std::optional<error_code> result;
    lock{fresh, "job", unfenced}.try_acquire([&](error_code ec, lease const&) { result = ec; });
    advance(5ms);
    BOOST_TEST(!result.has_value());
    late->connect();
    advance(10ms);
    BOOST_TEST_REQUIRE(result.has_value());
    BOOST_TEST(*result == errc::contended, result->message());
    BOOST_TEST(held->valid());
}

// That one does not have the key, which says nothing.
BOOST_FIXTURE_TEST_CASE(a_lease_is_released_though_a_member_that_left_was_not_met, changing_world)
{
    add(old_list);
    change(leaves, {});
    advance(10ms);
    auto& fresh = begin(old_list);
    members.back()->nodes[leaves]->connects_late = true;
    std::optional<lease> held;
    BOOST_TEST_REQUIRE(once(fresh, "job", &held) == error_code{});
    BOOST_TEST(release(*held) == error_code{});
}

// Of three members one has left, and N is three until leases of before are over. A token may be on that one and on the member that loses its data now, so
// the third must not admit that alone, though it is all that a list of two has.
BOOST_FIXTURE_TEST_CASE(in_an_open_set_half_of_a_short_list_admits_nobody, changing_world)
{
    for (int i = 0; i < 2; ++i) change(leaves, {});  // the second says that a majority has moved
    own[1]->restart_empty();
    auto& fresh = add({0, 1});
    BOOST_TEST(once(fresh, "job") != error_code{});
    advance(4 * max_ttl);
    BOOST_TEST(!is_admitted(1));
    BOOST_TEST(once(fresh, "job") == errc::no_majority);
}

// Though no quarantine is waited for, and to admit a server takes fewer requests than to found a set.
BOOST_FIXTURE_TEST_CASE(no_server_of_a_new_set_is_admitted_before_all_have_its_record, changing_world)
{
    bootstrap = true;
    auto& founder = begin({joins, joins + 1});
    lock{founder, "job", {.ttl = 5s}}.acquire([](error_code, lease const&) {});
    BOOST_TEST_REQUIRE(advance_until(*context, [&] { return is_admitted(joins) || is_admitted(joins + 1); }, 1s));
    for (std::size_t server : {joins, joins + 1}) {
        auto const text = own[server]->memory().set_record;
        BOOST_TEST(quorum::read_set_text(text).record.complete, text);
    }
}

// Others may found one at any time.
BOOST_FIXTURE_TEST_CASE(nodes_without_a_record_are_looked_at_again_and_again, changing_world)
{
    auto& idle = add({joins, joins + 1});
    advance(10s);
    BOOST_TEST(!idle.status().nodes[0].last_error);
    own[joins]->memory().set_record = quorum::to_text({"t", 0, 0, true, 0, 0, {}, {name_of(joins), name_of(0)}});
    advance(3s);
    BOOST_TEST(idle.status().nodes[0].last_error == errc::wrong_node_set);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
