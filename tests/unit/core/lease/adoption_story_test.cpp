// Leases that are detached, and go on with whoever has their ticket: several clients over nodes in memory.
#include "support/world.hpp"

#include "core/lease/ticket.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/test/unit_test.hpp>

#include <optional>
#include <string>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;
namespace asio = boost::asio;

// Two clients, as of two processes.
struct two_processes {
    explicit two_processes(std::size_t nodes = 3)
        : world{{.nodes = nodes}}, here{world.make_client("here")}, there{world.make_client("there")}
    {
        world.run_for(1s);
    }

    lease acquire(redlock::lock const& what)
    {
        std::optional<lease> held;
        redlock::lock{what}.acquire([&](error_code ec, lease l) {
            BOOST_TEST(!ec, ec.message());
            held = std::move(l);
        });
        BOOST_REQUIRE(world.run_until([&] { return held.has_value(); }));
        return std::move(*held);
    }
    lease acquire(std::string const& name, lock_options const& options = {.ttl = 10s})
    {
        return acquire(redlock::lock{here, name, options});
    }

    struct outcome {
        error_code ec;
        lease held;
    };
    outcome adopt(redlock::client& by, std::string const& ticket, std::optional<lock_options> const& options = {})
    {
        std::optional<outcome> result;
        auto const done = [&](error_code ec, lease l) { result.emplace(outcome{ec, std::move(l)}); };
        options ? by.adopt(ticket, *options, done) : by.adopt(ticket, done);
        BOOST_REQUIRE(world.run_until([&] { return result.has_value(); }));
        BOOST_TEST(static_cast<bool>(result->held) == !result->ec);
        return std::move(*result);
    }

    error_code release(lease& held)
    {
        std::optional<error_code> result;
        held.release([&](error_code ec) { result = ec; });
        BOOST_REQUIRE(world.run_until([&] { return result.has_value(); }));
        return *result;
    }

    simulation world;
    redlock::client here;
    redlock::client there;
};

struct five_nodes : two_processes {
    five_nodes() : two_processes{5} {}
};

std::string holder_of(two_processes const& p, std::string const& name)
{
    auto const found = p.world.holder(name);
    return found ? found->who : "";
}

}  // namespace

BOOST_AUTO_TEST_SUITE(adoption_story)

BOOST_FIXTURE_TEST_CASE(a_lease_goes_on_in_another_process_with_the_same_token, two_processes)
{
    auto held = acquire("resource");
    auto const token = held.token();
    auto const ticket = held.detach();
    BOOST_REQUIRE(!ticket.empty());
    BOOST_TEST(!held, "detach() leaves the lease empty");
    world.run_for(1ms);
    BOOST_TEST(here.status().leases == 0u);
    BOOST_TEST(holder_of(*this, "resource") == "here", "nothing is released");

    auto [ec, now_there] = adopt(there, ticket);
    BOOST_TEST(!ec, ec.message());
    BOOST_TEST(now_there.valid());
    BOOST_TEST(now_there.token() == token);
    BOOST_TEST(now_there.name() == "resource");
    BOOST_TEST(holder_of(*this, "resource") == "there");

    world.run_for(5min);
    BOOST_TEST(now_there.valid(), "its watchdog extends it");
    BOOST_TEST(now_there.nodes_held() == 3u);
    BOOST_TEST(!release(now_there));
    BOOST_TEST(holder_of(*this, "resource") == "");
    BOOST_TEST(acquire("resource").token() > token);
}

BOOST_FIXTURE_TEST_CASE(nobody_extends_it_before, two_processes)
{
    auto const ticket = acquire("resource").detach();
    world.run_for(9s);
    BOOST_TEST(holder_of(*this, "resource") == "here");
    world.run_for(2s);
    BOOST_TEST(holder_of(*this, "resource") == "");
    BOOST_TEST(adopt(there, ticket).ec == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(the_time_between_runs_and_the_adopter_has_all_of_it_again, two_processes)
{
    auto const ticket = acquire("resource").detach();
    world.run_for(9s);
    auto const [ec, held] = adopt(there, ticket);
    BOOST_TEST(!ec);
    BOOST_TEST((held.valid(9s)));
}

BOOST_FIXTURE_TEST_CASE(one_adopts_and_the_other_is_told, two_processes)
{
    auto const ticket = acquire("resource").detach();
    auto const first = adopt(there, ticket);
    BOOST_TEST(!first.ec);
    for (auto* const each : {&here, &there}) {
        auto const second = adopt(*each, ticket);
        BOOST_TEST(second.ec == errc::lease_lost);
        BOOST_TEST(second.ec == condition::lost);
    }
    world.run_for(30s);
    BOOST_TEST(first.held.valid(), "who came too late has taken nothing away");
}

BOOST_FIXTURE_TEST_CASE(two_at_the_same_time_are_never_both_told_that_they_have_it, two_processes)
{
    int adopted = 0;
    for (std::size_t i = 0; i < 50; ++i) {
        auto const ticket = acquire("resource").detach();
        for (std::size_t n = 0; n < 3; ++n) world.node(n).round_trip(std::chrono::microseconds{100 + 37 * (i * (n + 1) % 11)});
        std::vector<error_code> codes;
        std::vector<lease> all;
        for (auto* const each : {&here, &there})
            each->adopt(ticket, [&](error_code ec, lease l) {
                codes.push_back(ec);
                if (l) all.push_back(std::move(l));
            });
        BOOST_REQUIRE(world.run_until([&] { return codes.size() == 2; }));
        BOOST_TEST(all.size() == 1u, "with three nodes that answer, one of two has a majority");
        adopted += static_cast<int>(all.size());
        all.clear();
        world.run_for(1s);
        BOOST_TEST(holder_of(*this, "resource") == "", "neither leaves anything behind");
    }
    BOOST_TEST(adopted == 50);
}

BOOST_FIXTURE_TEST_CASE(it_is_over_when_it_was_released, two_processes)
{
    auto const ticket = acquire("resource").detach();
    auto first = adopt(there, ticket);
    BOOST_TEST(!release(first.held));
    BOOST_TEST(adopt(here, ticket).ec == errc::lease_lost);
    auto const again = acquire("resource");
    BOOST_TEST(adopt(there, ticket).ec == errc::lease_lost);
    BOOST_TEST(again.valid());
}

BOOST_FIXTURE_TEST_CASE(a_lease_can_travel_on_and_come_back, two_processes)
{
    auto held = acquire("resource");
    auto const token = held.token();
    for (int i = 0; i < 5; ++i) {
        auto const ticket = held.detach();
        auto next = adopt(i % 2 == 0 ? there : here, ticket);
        BOOST_REQUIRE(!next.ec);
        held = std::move(next.held);
        BOOST_TEST(held.token() == token);
        world.run_for(20s);
        BOOST_TEST(held.valid());
    }
    BOOST_TEST(!release(held));
    BOOST_TEST(acquire("resource").token() > token);
}

BOOST_FIXTURE_TEST_CASE(a_block_of_tokens_travels_with_it, two_processes)
{
    auto held = acquire("resource", {.ttl = 10s, .token_block = 4});
    auto const first = held.token();
    BOOST_TEST(held.next_token());
    auto next = adopt(there, held.detach());
    BOOST_REQUIRE(!next.ec);
    BOOST_TEST(next.held.token() == first + 1);
    BOOST_TEST(next.held.next_token());
    BOOST_TEST(next.held.next_token());
    BOOST_TEST(!next.held.next_token());
    BOOST_TEST(next.held.token() == first + 3);
}

BOOST_FIXTURE_TEST_CASE(so_does_a_lock_of_several_names, two_processes)
{
    redlock::lock const both{here, {"b", "a"}, {.ttl = 10s}};
    auto held = acquire(both);
    auto [ec, now_there] = adopt(there, held.detach());
    BOOST_REQUIRE(!ec);
    BOOST_TEST(now_there.name() == "a, b");
    world.run_for(1min);
    BOOST_TEST(now_there.valid());
    for (char const* name : {"a", "b"}) BOOST_TEST(holder_of(*this, name) == "there");
    BOOST_TEST(!release(now_there));
    for (char const* name : {"a", "b"}) BOOST_TEST(holder_of(*this, name) == "");
}

BOOST_FIXTURE_TEST_CASE(so_does_one_without_tokens, two_processes)
{
    auto held = acquire("resource", {.ttl = 10s, .fencing = false});
    auto const ticket = held.detach();
    auto [ec, now_there] = adopt(there, ticket);
    BOOST_REQUIRE(!ec);
    BOOST_TEST(now_there.token() == 0u);
    BOOST_TEST(adopt(here, ticket).ec == errc::lease_lost);
    world.run_for(1min);
    BOOST_TEST(now_there.valid());
    BOOST_TEST(!release(now_there));
}

BOOST_FIXTURE_TEST_CASE(without_the_ttl_in_options_it_has_that_of_the_ticket, two_processes)
{
    auto first = adopt(there, acquire("resource", {.ttl = 25s}).detach());
    BOOST_REQUIRE(!first.ec);
    BOOST_TEST((first.held.valid(24s) && !first.held.valid(25s)));
    auto second = adopt(here, first.held.detach(), lock_options{.ttl = 5s, .max_hold = 1min});
    BOOST_REQUIRE(!second.ec);
    BOOST_TEST((second.held.valid(4s) && !second.held.valid(5s)));
    world.run_for(59s);
    BOOST_TEST(second.held.valid());
    world.run_for(2s);
    BOOST_TEST(second.held.lost_error() == errc::max_hold_exceeded);
    BOOST_CHECK_THROW(there.adopt("", lock_options{.ttl = 0s}, [](error_code, lease) {}), std::invalid_argument);
}

BOOST_FIXTURE_TEST_CASE(what_is_not_held_cannot_be_detached, two_processes)
{
    lease empty;
    BOOST_TEST(empty.detach() == "");

    auto lost = acquire("resource");
    world.lose("resource", 100ms);
    world.run_for(1s);
    BOOST_TEST(lost.detach() == "");
    BOOST_TEST(lost.lost_error() == errc::lease_lost, "nothing has changed");

    auto late = acquire("other", {.ttl = 1s, .auto_extend = false});
    world.pause(2s);
    BOOST_TEST(late.detach() == "", "its time is over, though no timer has run");

    auto released = acquire("third");
    BOOST_TEST(!release(released));
    BOOST_TEST(released.detach() == "");
}

BOOST_FIXTURE_TEST_CASE(what_is_no_ticket_is_an_error_at_once, two_processes)
{
    auto held = acquire("resource");
    auto ticket = held.detach();
    BOOST_TEST(adopt(there, "").ec == errc::invalid_ticket);
    BOOST_TEST(adopt(there, ticket.substr(0, ticket.size() - 1)).ec == errc::invalid_ticket);
    auto altered = ticket;
    altered[altered.size() / 2] = altered[altered.size() / 2] == 'x' ? 'y' : 'x';
    BOOST_TEST(adopt(there, altered).ec == errc::invalid_ticket);
    auto newer = ticket;
    newer[15] = '2';
    BOOST_TEST(adopt(there, newer).ec == errc::ticket_too_new);
    BOOST_TEST(adopt(there, newer).ec == condition::not_acquired);
    BOOST_TEST(!adopt(there, ticket).ec, "the ticket itself is good");
}

// Its checksum is right, so somebody has made it.
BOOST_FIXTURE_TEST_CASE(a_ticket_with_a_ttl_that_no_lock_can_have_is_none, two_processes)
{
    detail::ticket t;
    BOOST_REQUIRE((detail::read_ticket(acquire("resource").detach(), t) == errc{}));
    for (auto const ttl : {1ms, 2ms, 9ms}) {
        t.ttl = ttl;
        BOOST_TEST(adopt(there, detail::to_text(t)).ec == errc::invalid_ticket);
    }
    t.ttl = 10ms;
    BOOST_TEST(!adopt(there, detail::to_text(t)).ec);
}

BOOST_AUTO_TEST_CASE(a_ticket_for_other_nodes_says_so)
{
    std::string ticket;
    {
        two_processes three;
        ticket = three.acquire("resource").detach();
    }
    two_processes five{5};
    BOOST_TEST(five.adopt(five.there, ticket).ec == errc::ticket_of_other_nodes);
}

BOOST_FIXTURE_TEST_CASE(a_ttl_that_this_client_does_not_allow_is_refused, two_processes)
{
    auto const ticket = acquire("resource", {.ttl = 20s}).detach();
    BOOST_TEST(adopt(there, ticket, lock_options{.ttl = 40s}).ec == errc::ttl_too_long);
    BOOST_TEST(!adopt(there, ticket).ec, "nothing was asked");
}

BOOST_FIXTURE_TEST_CASE(a_node_that_is_away_gets_the_key_later, two_processes)
{
    auto held = acquire("resource");
    world.node(2).down();
    world.run_for(1s);
    auto [ec, now_there] = adopt(there, held.detach());
    BOOST_REQUIRE(!ec);
    BOOST_TEST(now_there.nodes_held() == 2u);
    world.node(2).up();
    world.run_for(30s);
    BOOST_TEST(now_there.nodes_held() == 3u, "an extension sets it again where the value of the ticket has expired");
}

BOOST_FIXTURE_TEST_CASE(as_long_as_too_few_answer_they_are_asked_again, two_processes)
{
    auto held = acquire("resource");
    auto const ticket = held.detach();
    for (std::size_t n : {0u, 1u}) world.node(n).stop();
    std::optional<outcome> result;
    there.adopt(ticket, [&](error_code ec, lease l) { result.emplace(outcome{ec, std::move(l)}); });
    world.run_for(3s);
    BOOST_TEST(!result.has_value());
    for (std::size_t n : {0u, 1u}) world.node(n).go_on();
    BOOST_REQUIRE(world.run_until([&] { return result.has_value(); }, 5s));
    BOOST_TEST(!result->ec);
    world.run_for(1min);
    BOOST_TEST(result->held.valid());
}

BOOST_FIXTURE_TEST_CASE(until_the_ticket_is_good_for_nothing, two_processes)
{
    auto const ticket = acquire("resource").detach();
    for (std::size_t n : {0u, 1u}) world.node(n).stop();
    std::optional<outcome> result;
    there.adopt(ticket, [&](error_code ec, lease l) { result.emplace(outcome{ec, std::move(l)}); });
    world.run_for(9s);
    BOOST_TEST(!result.has_value());
    BOOST_REQUIRE(world.run_until([&] { return result.has_value(); }, 3s));
    BOOST_TEST(result->ec == errc::no_majority);
    for (std::size_t n : {0u, 1u}) world.node(n).go_on();
    world.run_for(1s);
    BOOST_TEST(holder_of(*this, "resource") == "", "what it had got is released");
}

// Until then, the nodes keep the value of the ticket.
BOOST_FIXTURE_TEST_CASE(which_is_later_with_a_lock_delay, two_processes)
{
    auto const ticket = acquire("resource", {.ttl = 10s, .lock_delay = 5s}).detach();
    for (std::size_t n : {0u, 1u}) world.node(n).stop();
    std::optional<outcome> result;
    there.adopt(ticket, [&](error_code ec, lease l) { result.emplace(outcome{ec, std::move(l)}); });
    world.run_for(14s);
    BOOST_TEST(!result.has_value());
    BOOST_REQUIRE(world.run_until([&] { return result.has_value(); }, 3s));
    BOOST_TEST(result->ec == errc::no_majority);
}

BOOST_FIXTURE_TEST_CASE(or_until_the_acquire_timeout_has_passed, two_processes)
{
    auto const ticket = acquire("resource").detach();
    for (std::size_t n : {0u, 1u}) world.node(n).stop();
    std::optional<outcome> result;
    there.adopt(ticket, lock_options{.acquire_timeout = 2s}, [&](error_code ec, lease l) { result.emplace(outcome{ec, std::move(l)}); });
    BOOST_REQUIRE(world.run_until([&] { return result.has_value(); }, 2100ms));
    BOOST_TEST(result->ec == errc::no_majority);
}

BOOST_FIXTURE_TEST_CASE(a_cancelled_adoption_gives_back_what_it_got, two_processes)
{
    for (auto const type : {asio::cancellation_type::terminal, asio::cancellation_type::partial, asio::cancellation_type::total}) {
        bool const heeded = type != asio::cancellation_type::total;
        auto const ticket = acquire("resource").detach();
        for (std::size_t n : {0u, 1u}) world.node(n).stop();
        asio::cancellation_signal signal;
        std::optional<outcome> result;
        there.adopt(ticket, asio::bind_cancellation_slot(signal.slot(),
                                                         [&](error_code ec, lease l) { result.emplace(outcome{ec, std::move(l)}); }));
        world.run_for(1s);
        signal.emit(type);
        world.run_for(1ms);
        BOOST_TEST(result.has_value() == heeded);
        if (heeded) BOOST_TEST(result->ec == asio::error::operation_aborted);
        for (std::size_t n : {0u, 1u}) world.node(n).go_on();
        world.run_for(3s);
        BOOST_REQUIRE(result.has_value());
        if (!heeded) BOOST_TEST(!result->ec);
        result.reset();
        world.run_for(1s);
        BOOST_TEST(holder_of(*this, "resource") == "");
    }
}

BOOST_FIXTURE_TEST_CASE(a_client_that_stops_ends_its_adoptions, two_processes)
{
    auto const ticket = acquire("resource").detach();
    for (std::size_t n : {0u, 1u}) world.node(n).stop();
    std::optional<outcome> result;
    there.adopt(ticket, [&](error_code ec, lease l) { result.emplace(outcome{ec, std::move(l)}); });
    world.run_for(1s);
    there.cancel();
    BOOST_REQUIRE(world.run_until([&] { return result.has_value(); }, 1s));
    BOOST_TEST(result->ec == errc::client_cancelled);
    BOOST_TEST(adopt(there, ticket).ec == errc::client_cancelled);
}

BOOST_FIXTURE_TEST_CASE(who_waits_here_for_the_lock_does_not_get_what_travels, two_processes)
{
    auto held = acquire("resource");
    std::optional<lease> waited;
    redlock::lock{here, "resource", {.ttl = 10s}}.acquire([&](error_code ec, lease l) {
        BOOST_TEST(!ec);
        waited = std::move(l);
    });
    world.run_for(1s);
    auto [ec, now_there] = adopt(there, held.detach());
    BOOST_REQUIRE(!ec);
    world.run_for(1min);
    BOOST_TEST(!waited.has_value());
    BOOST_TEST(now_there.valid());
    auto const token = now_there.token();
    BOOST_TEST(!release(now_there));
    BOOST_REQUIRE(world.run_until([&] { return waited.has_value(); }, 10s));
    BOOST_TEST(waited->token() > token);
}

BOOST_FIXTURE_TEST_CASE(who_adopts_goes_before_those_who_wait_in_the_same_client, two_processes)
{
    auto held = acquire("resource");
    std::optional<lease> waited;
    redlock::lock{there, "resource", {.ttl = 10s}}.acquire([&](error_code ec, lease l) {
        BOOST_TEST(!ec);
        waited = std::move(l);
    });
    world.run_for(1s);
    auto [ec, now_there] = adopt(there, held.detach());
    BOOST_REQUIRE(!ec);
    world.run_for(1min);
    BOOST_TEST((!waited.has_value() && now_there.valid()));
    auto const token = now_there.token();
    now_there = {};
    BOOST_REQUIRE(world.run_until([&] { return waited.has_value(); }, 10s));
    BOOST_TEST(waited->token() > token, "there are no tokens to hand over");
}

BOOST_FIXTURE_TEST_CASE(an_owner_detaches_all_that_he_has_of_the_lock, two_processes)
{
    auto const owner = owner_id{7};
    lock_options const options{.ttl = 10s, .owner = owner};
    auto outer = acquire("resource", options);
    auto inner = acquire("resource", options);
    BOOST_TEST(inner.token() == outer.token());
    auto const token = outer.token();
    auto const ticket = inner.detach();
    BOOST_REQUIRE(!ticket.empty());
    std::optional<error_code> lost;
    outer.wait_lost([&](error_code ec) { lost = ec; });
    world.run_for(1ms);
    BOOST_TEST((lost == errc::lease_lost));
    BOOST_TEST(!outer.valid());
    BOOST_TEST(release(outer) == errc::lease_lost);
    world.run_for(1s);
    BOOST_TEST(holder_of(*this, "resource") == "here", "its release has taken nothing from the one who travels");

    auto next = adopt(there, ticket, options);
    BOOST_REQUIRE(!next.ec);
    BOOST_TEST(next.held.token() == token);
    auto second = acquire(redlock::lock{there, "resource", options});
    BOOST_TEST(second.token() == token, "the owner may enter again where it has arrived");
}

BOOST_FIXTURE_TEST_CASE(a_wait_for_its_loss_ends, two_processes)
{
    auto held = acquire("resource");
    std::optional<error_code> why;
    held.wait_lost([&](error_code ec) { why = ec; });
    auto const ticket = held.detach();
    world.run_for(1ms);
    BOOST_TEST((why == asio::error::operation_aborted));
}

BOOST_FIXTURE_TEST_CASE(the_body_of_a_scope_may_detach_its_lease, two_processes)
{
    std::string ticket;
    auto const body = [&](lease& held) -> asio::awaitable<int> {
        ticket = held.detach();
        co_return 42;
    };
    redlock::lock const resource{here, "resource", {.ttl = 10s}};
    auto const story = [&]() -> asio::awaitable<int> {
        auto scope = with_lock(resource, body);
        co_return co_await std::move(scope);
    };
    BOOST_TEST(world.run(story()) == 42);
    world.run_for(1s);
    BOOST_TEST(holder_of(*this, "resource") == "here");
    BOOST_TEST(!adopt(there, ticket).ec);
}

BOOST_FIXTURE_TEST_CASE(a_node_that_forgot_is_no_vote_for_an_adoption, five_nodes)
{
    auto held = acquire("resource");
    auto const ticket = held.detach();
    for (std::size_t n : {0u, 1u, 2u}) world.node(n).forget();
    world.run_for(1s);
    auto const late = adopt(there, ticket);
    BOOST_TEST((late.ec == errc::lease_lost || late.ec == errc::no_majority));
}

// The old value may be on its way for long. What counts is that nothing that carries it can change a node that has the new one.
struct one_client : world {
    one_client() { start(); }

    lease acquire()
    {
        lease held;
        redlock::lock{*client, "resource", {.ttl = 10s}}.acquire([&](error_code ec, lease l) {
            BOOST_TEST(!ec);
            held = std::move(l);
        });
        advance(1ms);
        BOOST_REQUIRE(held.valid());
        return held;
    }
    std::size_t count(verb what) const
    {
        std::size_t n = 0;
        for (auto const& each : nodes) n += each->count(what);
        return n;
    }
};

BOOST_FIXTURE_TEST_CASE(nothing_is_sent_for_a_detached_lease, one_client)
{
    {
        auto held = acquire();
        auto const ticket = held.detach();
        BOOST_TEST(!ticket.empty());
    }
    advance(1min);
    BOOST_TEST(count(verb::extend) == 0u);
    BOOST_TEST(count(verb::release) == 0u);
    finish();
    BOOST_TEST((run_result == errc::client_cancelled));
    BOOST_TEST(count(verb::release) == 0u);
}

BOOST_FIXTURE_TEST_CASE(an_adopted_lease_has_another_value_and_a_higher_counter, one_client)
{
    auto held = acquire();
    auto const before = *nodes[0]->get("resource");
    auto const counter = *nodes[0]->memory().find_counter("resource", nodes[0]->wall())->value;
    std::optional<lease> adopted;
    client->adopt(held.detach(), [&](error_code ec, lease l) {
        BOOST_TEST(!ec, ec.message());
        adopted = std::move(l);
    });
    advance(1ms);
    BOOST_REQUIRE(adopted.has_value());
    for (auto const& n : nodes) {
        BOOST_TEST((*n->get("resource") != before));
        BOOST_TEST(*n->memory().find_counter("resource", n->wall())->value == counter + 1);
    }
    // What was sent under the old value finds nothing to extend, to set again or to delete.
    for (auto const& n : nodes) {
        detail::command late{verb::extend, "resource", before, 10s};
        late.fenced = true;
        late.token = counter;
        late.retention = 1h;
        BOOST_TEST((n->memory().execute(late, n->wall(), n->memory().id).vote == vote::refused));
        late.what = verb::release;
        BOOST_TEST((n->memory().execute(late, n->wall(), n->memory().id).vote == vote::refused));
        auto const kept = *n->get("resource");
        n->del("resource");
        late.what = verb::extend;
        BOOST_TEST((n->memory().execute(late, n->wall(), n->memory().id).vote == vote::refused), "nor where the key is missing");
        n->set("resource", kept, 10s);
    }
    advance(1min);
    BOOST_TEST(adopted->valid(), "extensions carry the new guard");
}

BOOST_FIXTURE_TEST_CASE(what_a_cancelled_adoption_had_got_is_released_also_where_the_answer_is_late, one_client)
{
    auto const ticket = acquire().detach();
    auto const before = *nodes[2]->get("resource");
    for (std::size_t n : {0u, 1u}) nodes[n]->stop();
    asio::cancellation_signal signal;
    std::optional<error_code> result;
    client->adopt(ticket, asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, lease) { result = ec; }));
    advance(10ms);
    BOOST_TEST_REQUIRE(nodes[2]->get("resource").has_value());
    BOOST_TEST((*nodes[2]->get("resource") != before));
    signal.emit(asio::cancellation_type::terminal);
    advance(10ms);
    BOOST_TEST((result == asio::error::operation_aborted));
    BOOST_TEST(!nodes[2]->get("resource").has_value());
    for (std::size_t n : {0u, 1u}) nodes[n]->go_on();
    advance(100ms);
    BOOST_TEST(keys() == 0u);
}

// As when a command adopts a lease and releases it at once.
BOOST_FIXTURE_TEST_CASE(a_release_also_reaches_a_node_that_is_connected_later, world)
{
    detail::ticket const ticket{.keys = {"resource"}, .text = "resource", .value = "before", .ttl = 10s, .nodes = 3};
    for (auto const& n : nodes) n->set("resource", ticket.value, ticket.ttl);
    nodes[2]->connects_late = true;
    start();
    std::optional<lease> adopted;
    client->adopt(to_text(ticket), [&](error_code ec, lease l) {
        BOOST_TEST(!ec, ec.message());
        adopted = std::move(l);
    });
    advance(1ms);
    BOOST_REQUIRE(adopted.has_value());
    std::optional<error_code> released, drained;
    adopted->release([&](error_code ec) { released = ec; });
    client->drain([&](error_code ec) { drained = ec; });
    advance(1ms);
    BOOST_TEST((released == error_code{}));
    BOOST_TEST(!drained.has_value());
    BOOST_TEST(keys() == 1u);
    nodes[2]->connect();
    advance(1ms);
    BOOST_TEST((drained == error_code{}));
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(but_takes_nothing_from_another_adopter_there_if_this_one_was_too_late, world)
{
    detail::ticket const ticket{.keys = {"resource"}, .text = "resource", .value = "before", .ttl = 10s, .nodes = 3};
    nodes[2]->set("resource", ticket.value, ticket.ttl);
    nodes[2]->connects_late = true;
    start();
    std::optional<error_code> result;
    client->adopt(to_text(ticket), [&](error_code ec, lease) { result = ec; });
    advance(1ms);
    BOOST_TEST((result == errc::lease_lost));
    nodes[2]->connect();
    advance(1s);
    BOOST_TEST(nodes[2]->get("resource").value_or("") == ticket.value);
}

BOOST_FIXTURE_TEST_CASE(an_extension_that_was_asked_for_ends_with_the_lease, one_client)
{
    auto held = acquire();
    for (auto const& n : nodes) n->stop();
    std::optional<error_code> result;
    held.extend([&](error_code ec) { result = ec; });
    settle();
    BOOST_TEST(!held.detach().empty());
    advance(2s);
    BOOST_REQUIRE(result.has_value());
    BOOST_TEST(*result == errc::lease_lost);
    for (auto const& n : nodes) n->go_on();
    advance(1s);
    BOOST_TEST(count(verb::release) == 0u);
}

// As config::key_format makes it.
BOOST_FIXTURE_TEST_CASE(a_ticket_says_which_key_its_lock_has, one_client)
{
    detail::ticket const ticket{.keys = {"app:job"}, .text = "job", .value = "before", .ttl = 10s, .nodes = 3};
    for (auto const& n : nodes) n->set("app:job", ticket.value, ticket.ttl);
    start();
    std::optional<lease> held;
    client->adopt(to_text(ticket), [&](error_code ec, lease l) {
        BOOST_TEST(!ec, ec.message());
        held.emplace(std::move(l));
    });
    advance(1min);
    BOOST_TEST_REQUIRE(held->valid());
    BOOST_TEST(held->name() == "job");
    BOOST_TEST(keys() == 3u);
    held.reset();
    advance(1s);
    BOOST_TEST(keys() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
