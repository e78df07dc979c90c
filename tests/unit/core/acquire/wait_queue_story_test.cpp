// Many waiters: the line within a client, leases that are handed over, nested leases, several names, and what wakes who waits.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <deque>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

// One call of acquire(), and what became of it.
struct asked {
    std::optional<error_code> ec;
    lease held;
    attempt_report report;
    time_point at{};
    asio::cancellation_signal signal;
};

struct line_world : world {
    explicit line_world(std::size_t node_count = 3) : world{node_count} { start(); }

    asked& ask(redlock::lock const& resource, bool once = false)
    {
        asked& a = calls.emplace_back();
        auto done = [&a](error_code ec, lease l) {
            a.ec = ec;
            a.held = std::move(l);
            a.at = virtual_clock::now();
        };
        auto handler = asio::bind_cancellation_slot(a.signal.slot(), done);
        once ? resource.try_acquire(a.report, std::move(handler)) : resource.acquire(a.report, std::move(handler));
        settle();
        return a;
    }
    asked& ask(lock_options const& options = usual) { return ask(redlock::lock{*client, "resource", options}); }
    asked& acquire(lock_options const& options = usual)
    {
        asked& a = ask(options);
        advance(1ms);
        BOOST_REQUIRE(a.ec.has_value());
        BOOST_REQUIRE(!*a.ec);
        return a;
    }

    error_code release(lease& held)
    {
        std::optional<error_code> result;
        held.release([&](error_code ec) { result = ec; });
        settle();
        if (!result) advance(1ms);
        BOOST_REQUIRE(result.has_value());
        return *result;
    }

    std::size_t messages() const
    {
        std::size_t n = 0;
        for (auto const& each : nodes) n += each->batches;
        return n;
    }
    std::size_t sent(verb what) const
    {
        std::size_t n = 0;
        for (auto const& each : nodes) n += each->count(what);
        return n;
    }
    void taken_by_foreigner(std::optional<duration> ttl = {})
    {
        for (auto& n : nodes) n->set("resource", "foreign", ttl);
    }
    void freed_by_foreigner()
    {
        for (auto& n : nodes) n->del("resource");
    }

    static constexpr lock_options usual{.ttl = 10s, .max_local_hold = 10min};

    std::deque<asked> calls;
};

constexpr duration round_trip = 100us;

}  // namespace

BOOST_AUTO_TEST_SUITE(line_story)

BOOST_FIXTURE_TEST_CASE(a_lease_goes_to_the_next_in_line_without_a_message, line_world)
{
    auto& first = acquire();
    auto& second = ask();
    auto& third = ask();
    advance(500ms);
    auto const before = messages();
    auto const until = first.held.valid_until();
    BOOST_TEST(!release(first.held));
    BOOST_REQUIRE(second.ec.has_value());
    BOOST_TEST(!*second.ec);
    BOOST_TEST(second.held.valid());
    BOOST_TEST((second.held.valid_until() == until));
    BOOST_TEST(second.held.nodes_held() == 3u);
    BOOST_TEST(second.held.token() > first.held.token());
    BOOST_TEST(!first.held.valid());
    BOOST_TEST(!third.ec.has_value());
    second.held = lease{};
    settle();
    BOOST_REQUIRE(third.ec.has_value());
    BOOST_TEST(third.held.token() > second.held.token());
    BOOST_TEST(messages() == before);
    BOOST_TEST(counters().handoffs == 2u);
    BOOST_TEST(counters().acquired == 3u);
    BOOST_TEST(client->status().leases == 1u);
    release(third.held);
    advance(1ms);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(the_watchdog_goes_on_for_the_next_holder, line_world)
{
    auto& first = acquire({.ttl = 300ms, .max_local_hold = 10min});
    auto& second = ask({.ttl = 300ms, .max_local_hold = 10min});
    advance(10s);
    release(first.held);
    advance(10s);
    BOOST_TEST(second.held.valid());
    release(second.held);
    advance(1ms);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(what_is_short_is_extended_at_once, line_world)
{
    lock_options const options{.ttl = 10s, .auto_extend = false};
    auto patient = options;
    patient.max_local_hold = 10min;
    auto& first = acquire(patient);
    auto& second = ask(patient);
    advance(5s);
    release(first.held);
    BOOST_REQUIRE(second.ec.has_value());
    advance(1ms);
    BOOST_TEST((second.held.valid_until() > virtual_clock::now() + 9s));
    BOOST_TEST(sent(verb::extend) == 3u);
}

BOOST_FIXTURE_TEST_CASE(what_is_nearly_over_is_not_handed_over, line_world)
{
    lock_options const options{.ttl = 10s, .max_local_hold = 10min, .auto_extend = false};
    auto& first = acquire(options);
    auto& second = ask(options);
    advance(7s);
    auto const token = first.held.token();
    release(first.held);
    advance(100ms);
    BOOST_REQUIRE(second.ec.has_value());
    BOOST_TEST(second.held.token() > token);
    BOOST_TEST(second.report.attempts == 1u);
    BOOST_TEST(counters().handoffs == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_lost_lease_is_not_handed_over, line_world)
{
    auto& first = acquire({.ttl = 1s, .max_local_hold = 10min});
    auto& second = ask({.ttl = 1s, .max_local_hold = 10min});
    for (auto& n : nodes) n->stop();
    advance(3s);
    BOOST_TEST(!first.held.valid());
    BOOST_TEST(!second.ec.has_value());
    for (auto& n : nodes) n->go_on();
    std::optional<error_code> result;
    first.held.release([&](error_code ec) { result = ec; });
    advance(2s);
    BOOST_TEST(result.value() == errc::lease_lost);
    BOOST_REQUIRE(second.ec.has_value());
    BOOST_TEST(!*second.ec);
    BOOST_TEST(second.held.token() > first.held.token());
    BOOST_TEST(counters().handoffs == 0u);
}

BOOST_FIXTURE_TEST_CASE(only_who_wants_the_same_gets_it_handed_over, line_world)
{
    auto& first = acquire();
    auto& second = ask({.ttl = 5s});
    release(first.held);
    advance(10ms);
    BOOST_REQUIRE(second.ec.has_value());
    BOOST_TEST(!*second.ec);
    BOOST_TEST(counters().handoffs == 0u);
}

BOOST_FIXTURE_TEST_CASE(after_so_many_the_others_get_their_turn, line_world)
{
    lock_options const options{.ttl = 10s, .max_handoffs = 2, .max_local_hold = 10min};
    auto* holder = &acquire(options);
    std::vector<asked*> waiting;
    for (int i = 0; i < 4; ++i) waiting.push_back(&ask(options));
    for (int i = 0; i < 2; ++i) {
        release(holder->held);
        holder = waiting[static_cast<std::size_t>(i)];
        BOOST_REQUIRE(holder->ec.has_value());
    }
    auto const token = holder->held.token();
    release(holder->held);
    BOOST_TEST(!waiting[2]->ec.has_value());
    BOOST_TEST(keys() == 0u);
    advance(100us);
    BOOST_TEST(keys() == 0u, "the client stays out of the race for a moment");
    advance(100ms);
    BOOST_REQUIRE(waiting[2]->ec.has_value());
    BOOST_TEST(waiting[2]->held.token() > token);
    BOOST_TEST(counters().handoffs == 2u);
}

BOOST_FIXTURE_TEST_CASE(after_so_long_too, line_world)
{
    lock_options const options{.ttl = 10s, .max_local_hold = 50ms};
    auto& first = acquire(options);
    auto& second = ask(options);
    advance(60ms);
    release(first.held);
    BOOST_TEST(!second.ec.has_value());
    advance(100ms);
    BOOST_REQUIRE(second.ec.has_value());
    BOOST_TEST(counters().handoffs == 0u);
}

// Keys of a majority are gone, and somebody else has acquired the lock: of which who hands a lease over knows nothing.
BOOST_FIXTURE_TEST_CASE(tokens_are_in_the_order_of_the_nodes_grants, line_world)
{
    for (std::uint32_t const handoffs : {64u, 0u}) {
        auto options = usual;
        options.max_handoffs = handoffs;
        auto& first = acquire(options);
        auto& second = ask(options);
        detail::command theirs{verb::acquire, "resource", "another client's", 10ms};
        theirs.fenced = true;
        theirs.retention = 1h;
        quorum::token_number token = 0;
        for (auto& n : nodes) {
            n->del("resource");
            token = n->memory().execute(theirs, n->wall(), n->memory().id).counter;
        }
        BOOST_TEST(token > first.held.token());
        std::optional<error_code> released;
        first.held.release([&](error_code ec) { released = ec; });
        advance(1s);
        BOOST_REQUIRE(released && second.ec);
        BOOST_TEST(!*second.ec);
        BOOST_TEST(second.held.token() > first.held.token());
        if (handoffs > 0) BOOST_TEST(second.held.token() < token, "of the block that was reserved for the first");
        if (handoffs == 0) BOOST_TEST(second.held.token() > token, "asked for on the nodes");
        second.held = lease{};
        advance(1s);
    }
}

BOOST_FIXTURE_TEST_CASE(waiters_leave_from_anywhere_in_the_line, line_world)
{
    for (auto const type : {asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal}) {
        auto& holder = acquire();
        auto& a = ask();
        auto& b = ask();
        auto& c = ask();
        auto& d = ask();
        b.signal.emit(type);  // in the middle
        d.signal.emit(type);  // the last
        settle();
        BOOST_REQUIRE(b.ec && d.ec);
        BOOST_TEST(*b.ec == asio::error::operation_aborted);
        BOOST_TEST(*d.ec == asio::error::operation_aborted);
        a.signal.emit(type);  // the first
        settle();
        BOOST_REQUIRE(a.ec.has_value());
        BOOST_TEST(*a.ec == asio::error::operation_aborted);
        BOOST_TEST(client->status().waiting == 1u);
        release(holder.held);
        BOOST_REQUIRE(c.ec.has_value());
        BOOST_TEST(!*c.ec);
        release(c.held);
        advance(1s);
        BOOST_TEST(keys() == 0u);
    }
}

BOOST_FIXTURE_TEST_CASE(the_next_one_asks_when_the_first_has_left, line_world)
{
    taken_by_foreigner();
    auto& first = ask();
    auto& second = ask();
    advance(1ms);
    BOOST_TEST(client->status().waiting == 2u);
    first.signal.emit(asio::cancellation_type::terminal);
    settle();
    BOOST_TEST(first.ec.has_value());
    freed_by_foreigner();
    advance(1ms);
    BOOST_REQUIRE(second.ec.has_value());
    BOOST_TEST(!*second.ec);
}

BOOST_FIXTURE_TEST_CASE(deadlines_hold_in_the_line, line_world)
{
    auto& holder = acquire();
    auto& a = ask({.ttl = 10s, .acquire_timeout = 250ms, .max_local_hold = 10min});
    auto& b = ask({.ttl = 10s, .acquire_timeout = 100ms, .max_local_hold = 10min});
    auto& c = ask();
    auto const now = virtual_clock::now();
    advance(300ms);
    BOOST_REQUIRE(a.ec && b.ec);
    BOOST_TEST(*a.ec == errc::acquire_timed_out);
    BOOST_TEST(*b.ec == errc::acquire_timed_out);
    BOOST_TEST((a.at == now + 250ms));
    BOOST_TEST((b.at == now + 100ms));
    BOOST_TEST(a.report.outcome == errc::contended);
    BOOST_TEST(a.report.attempts == 0u);
    BOOST_TEST(!c.ec.has_value());
    release(holder.held);
    BOOST_TEST(c.ec.has_value());
}

BOOST_FIXTURE_TEST_CASE(what_this_client_holds_need_not_be_asked_for, line_world)
{
    auto& holder = acquire();
    auto const before = messages();
    auto& once = ask(redlock::lock{*client, "resource", usual}, true);
    BOOST_REQUIRE(once.ec.has_value());
    BOOST_TEST(*once.ec == errc::contended);
    BOOST_TEST(once.report.attempts == 1u);
    BOOST_REQUIRE(once.report.nodes.size() == 3u);
    BOOST_TEST(once.report.nodes[0].detail == "not asked: this client holds the lock");
    BOOST_TEST(counters().contended == 1u);
    BOOST_TEST(counters().no_majority == 0u);
    BOOST_TEST(messages() == before);
    release(holder.held);
    advance(1ms);
    auto& again = ask(redlock::lock{*client, "resource", usual}, true);
    advance(1ms);
    BOOST_TEST(!*again.ec);
}

BOOST_FIXTURE_TEST_CASE(a_line_of_a_client_that_ends_ends_with_it, line_world)
{
    auto& holder = acquire();
    auto& a = ask();
    auto& b = ask();
    client->cancel();
    advance(1s);
    BOOST_REQUIRE(a.ec && b.ec);
    BOOST_TEST(*a.ec == errc::client_cancelled);
    BOOST_TEST(*b.ec == errc::client_cancelled);
    BOOST_TEST(holder.held.lost_error() == errc::client_cancelled);
    BOOST_TEST(client->status().waiting == 0u);
}

// Owners.

BOOST_FIXTURE_TEST_CASE(an_owner_gets_what_it_holds_again, line_world)
{
    auto options = usual;
    options.owner = new_owner();
    auto& outer = acquire(options);
    auto const before = messages();
    auto& inner = ask(options);
    auto& other = ask();
    BOOST_REQUIRE(inner.ec.has_value());
    BOOST_TEST(!*inner.ec);
    BOOST_TEST(inner.held.valid());
    BOOST_TEST(inner.held.token() == outer.held.token());
    BOOST_TEST((inner.held.valid_until() == outer.held.valid_until()));
    BOOST_TEST(!inner.held.next_token());
    BOOST_TEST(counters().nested == 1u);
    BOOST_TEST(client->status().leases == 1u);
    BOOST_TEST(messages() == before);
    BOOST_TEST(!release(inner.held));
    BOOST_TEST(!inner.held.valid());
    BOOST_TEST(outer.held.valid());
    BOOST_TEST(!other.ec.has_value());
    BOOST_TEST(!release(outer.held));
    BOOST_TEST(other.ec.has_value());
}

BOOST_FIXTURE_TEST_CASE(the_last_of_nested_leases_gives_back_whichever_it_is, line_world)
{
    auto options = usual;
    options.owner = new_owner();
    auto& outer = acquire(options);
    auto& inner = ask(options);
    auto& innermost = ask(options);
    BOOST_TEST(!release(outer.held));
    BOOST_TEST(inner.held.valid());
    inner.held = lease{};
    advance(20s);
    BOOST_TEST(innermost.held.valid(), "the watchdog goes on");
    BOOST_TEST(keys() == 3u);
    BOOST_TEST(!release(innermost.held));
    advance(1ms);
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(counters().released == 1u);
}

BOOST_FIXTURE_TEST_CASE(who_stands_in_line_for_the_same_owner_holds_it_with_him, line_world)
{
    auto mine = usual;
    mine.owner = new_owner();
    auto& holder = acquire();
    auto& first = ask(mine);
    auto& other = ask();
    auto& second = ask(mine);
    release(holder.held);
    BOOST_REQUIRE(first.ec && second.ec);
    BOOST_TEST(second.held.token() == first.held.token());
    BOOST_TEST(!other.ec.has_value());
    release(first.held);
    BOOST_TEST(!other.ec.has_value());
    release(second.held);
    BOOST_TEST(other.ec.has_value());
}

// Who does not stand in line wins while the first in line has asked the nodes as well.
BOOST_FIXTURE_TEST_CASE(who_has_asked_the_nodes_for_the_same_owner_holds_it_too, line_world)
{
    auto mine = usual;
    mine.owner = new_owner();
    redlock::lock const resource{*client, "resource", mine};
    auto& once = ask(resource, true);
    auto& patient = ask(resource);
    auto& another = ask(resource);
    BOOST_REQUIRE(sent(verb::acquire) == 0u);
    advance(10ms);
    BOOST_REQUIRE(once.ec && patient.ec && another.ec);
    BOOST_TEST(!*once.ec);
    BOOST_TEST(!*patient.ec);
    BOOST_TEST(!*another.ec);
    BOOST_TEST(patient.held.token() == once.held.token());
    BOOST_TEST(!patient.report.outcome);
    BOOST_TEST(!another.report.outcome);
    BOOST_TEST(counters().nested == 2u);
    BOOST_TEST(client->status().waiting == 0u);
    release(once.held);
    release(another.held);
    BOOST_TEST(patient.held.valid());
    release(patient.held);
    advance(1ms);
    BOOST_TEST(keys() == 0u);
}

// What the node has granted to the one in line, beside the majority that the other one has, is given back.
BOOST_FIXTURE_TEST_CASE(what_was_granted_besides_to_the_same_owner_is_given_back, line_world)
{
    auto mine = usual;
    mine.owner = new_owner();
    redlock::lock const resource{*client, "resource", mine};
    nodes[2]->set("resource", "foreign", 250us);
    auto& once = ask(resource, true);
    advance(80us);
    nodes[2]->there = 250us;
    auto& patient = ask(resource);
    advance(10ms);
    BOOST_REQUIRE(once.ec && patient.ec);
    BOOST_TEST(!*patient.ec);
    BOOST_TEST(once.held.nodes_held() == 2u);
    BOOST_TEST(!nodes[2]->get("resource"));
    release(patient.held);
    release(once.held);
    advance(1ms);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(who_counts_attempts_is_nested_when_his_owner_has_got_it_meanwhile, line_world)
{
    auto mine = usual;
    mine.owner = new_owner();
    auto impatient = mine;
    impatient.max_attempts = 2;
    impatient.min_retry_delay = impatient.max_retry_delay = 100ms;
    taken_by_foreigner(20ms);
    auto& counting = ask(impatient);
    auto& patient = ask(mine);
    advance(50ms);
    BOOST_REQUIRE(patient.ec.has_value());
    BOOST_TEST(!counting.ec.has_value());
    advance(100ms);
    BOOST_REQUIRE(counting.ec.has_value());
    BOOST_TEST(!*counting.ec);
    BOOST_TEST(counting.held.token() == patient.held.token());
}

// A total cancellation awaits the attempt under way, and what that comes to.
BOOST_FIXTURE_TEST_CASE(who_has_been_cancelled_is_not_nested, line_world)
{
    auto mine = usual;
    mine.owner = new_owner();
    redlock::lock const resource{*client, "resource", mine};
    auto& once = ask(resource, true);
    auto& patient = ask(resource);
    advance(round_trip / 4);
    patient.signal.emit(asio::cancellation_type::total);
    settle();
    BOOST_TEST(!patient.ec.has_value());
    advance(10ms);
    BOOST_REQUIRE(once.ec && patient.ec);
    BOOST_TEST(!*once.ec);
    BOOST_TEST(*patient.ec == asio::error::operation_aborted);
    BOOST_TEST(once.held.valid());
    BOOST_TEST(counters().nested == 0u);
    release(once.held);
    advance(1ms);
    BOOST_TEST(keys() == 0u);
}

// An unfenced outer lease, and its owner asks for a fenced one.
BOOST_FIXTURE_TEST_CASE(who_wants_tokens_is_not_nested_in_a_lease_without, line_world)
{
    auto plain = usual;
    plain.owner = new_owner();
    plain.fencing = false;
    auto fenced = plain;
    fenced.fencing = true;
    auto& outer = acquire(plain);
    auto& inner = ask(fenced);
    auto& plain_too = ask(plain);
    advance(10ms);
    BOOST_TEST(plain_too.ec.has_value(), "one without is");
    BOOST_REQUIRE(inner.ec.has_value());
    BOOST_TEST(*inner.ec == errc::self_deadlock);
    release(plain_too.held);
    release(outer.held);
    advance(100ms);
    auto& after = acquire(fenced);
    BOOST_TEST(after.held.token() > 0u);
    BOOST_TEST(counters().nested == 1u);
}

BOOST_FIXTURE_TEST_CASE(nested_leases_are_lost_together, line_world)
{
    auto options = usual;
    options.owner = new_owner();
    auto& outer = acquire(options);
    auto& inner = ask(options);
    std::optional<error_code> told;
    inner.held.wait_lost([&](error_code ec) { told = ec; });
    for (auto& n : nodes) n->restart_empty();
    advance(20s);
    BOOST_TEST(!outer.held.valid());
    BOOST_TEST(!inner.held.valid());
    BOOST_REQUIRE(told.has_value());
    BOOST_TEST(*told == errc::lease_lost);
    BOOST_TEST(counters().leases_lost == 1u);
}

BOOST_FIXTURE_TEST_CASE(another_owner_waits, line_world)
{
    auto mine = usual;
    mine.owner = new_owner();
    auto theirs = usual;
    theirs.owner = new_owner();
    BOOST_TEST((mine.owner != theirs.owner));
    auto& holder = acquire(mine);
    auto& waiter = ask(theirs);
    BOOST_TEST(!waiter.ec.has_value());
    release(holder.held);
    BOOST_TEST(waiter.ec.has_value());
}

// Waking up.

BOOST_FIXTURE_TEST_CASE(a_deletion_by_somebody_else_is_noticed_at_once, line_world)
{
    taken_by_foreigner();
    auto& waiter = ask();
    advance(1s);
    BOOST_TEST(!waiter.ec.has_value());
    auto const before = messages();
    advance(3s);
    BOOST_TEST(messages() == before, "who waits is quiet");
    auto const freed = virtual_clock::now();
    freed_by_foreigner();
    advance(10ms);
    BOOST_REQUIRE(waiter.ec.has_value());
    BOOST_TEST((waiter.at <= freed + 2 * round_trip));
    BOOST_TEST(counters().wakeups == 1u);
    BOOST_TEST(counters().polls == 0u);
}

BOOST_FIXTURE_TEST_CASE(an_expiry_is_waited_for, line_world)
{
    for (auto& n : nodes) n->says_expiry = false;
    auto const set = virtual_clock::now();
    taken_by_foreigner(4s);
    auto& waiter = ask();
    advance(3900ms);
    BOOST_TEST(!waiter.ec.has_value());
    advance(200ms);
    BOOST_REQUIRE(waiter.ec.has_value());
    BOOST_TEST((waiter.at > set + 4s && waiter.at < set + 4s + 5ms));
    BOOST_TEST(waiter.report.attempts == 2u);
}

BOOST_FIXTURE_TEST_CASE(an_extension_by_somebody_else_costs_one_attempt, line_world)
{
    taken_by_foreigner(4s);
    auto& waiter = ask();
    for (int i = 0; i < 10; ++i) {
        advance(2s);
        taken_by_foreigner(4s);
    }
    advance(100ms);
    BOOST_TEST(!waiter.ec.has_value());
    BOOST_TEST(sent(verb::acquire) == 3u * 11u);
    BOOST_TEST(sent(verb::release) <= 11u, "only where it was not known yet that the node had refused");
    freed_by_foreigner();
    advance(1ms);
    BOOST_TEST(waiter.ec.has_value());
}

BOOST_FIXTURE_TEST_CASE(extensions_that_come_as_expected_cost_only_a_look, line_world)
{
    release(acquire().held);  // a counter that stays what it is says that the holder is the same
    advance(1s);
    taken_by_foreigner(10s);
    auto& waiter = ask();
    for (int i = 0; i < 20; ++i) {
        advance(3s);
        for (auto& n : nodes) n->set("resource", "foreign", 10s);
    }
    advance(100ms);
    BOOST_TEST(!waiter.ec.has_value());
    BOOST_TEST(sent(verb::acquire) <= 3u * 3u);
    BOOST_TEST(sent(verb::watch) >= 3u * 20u);
    auto const freed = virtual_clock::now();
    freed_by_foreigner();
    advance(10ms);
    BOOST_REQUIRE(waiter.ec.has_value());
    BOOST_TEST((waiter.at <= freed + 2 * round_trip), "a release comes when none is expected");
}

BOOST_FIXTURE_TEST_CASE(a_release_when_an_extension_was_expected_costs_one_look, line_world)
{
    release(acquire().held);
    advance(1s);
    taken_by_foreigner(10s);
    auto& waiter = ask();
    for (int i = 0; i < 5; ++i) {
        advance(3s);
        for (auto& n : nodes) n->set("resource", "foreign", 10s);
    }
    advance(3s);
    BOOST_TEST(!waiter.ec.has_value());
    auto const looked = sent(verb::watch);
    auto const freed = virtual_clock::now();
    freed_by_foreigner();
    advance(1s);
    BOOST_REQUIRE(waiter.ec.has_value());
    BOOST_TEST((waiter.at <= freed + 5ms));
    BOOST_TEST(sent(verb::watch) <= looked + 2u * 3u, "the look, and one along with the attempt");
}

BOOST_FIXTURE_TEST_CASE(a_push_that_is_lost_costs_the_poll_interval, line_world)
{
    taken_by_foreigner();
    auto options = usual;
    options.poll_interval = 2s;
    auto& waiter = ask(options);
    advance(500ms);
    for (auto& n : nodes) n->loses_pushes = true;
    freed_by_foreigner();
    advance(1s);
    BOOST_TEST(!waiter.ec.has_value());
    advance(1s);
    BOOST_REQUIRE(waiter.ec.has_value());
    BOOST_TEST(counters().polls == 1u);
}

BOOST_FIXTURE_TEST_CASE(nodes_that_tell_nothing_are_asked, line_world)
{
    for (auto& n : nodes) n->watches = false;
    taken_by_foreigner();
    auto& waiter = ask({.ttl = 10s, .max_retry_delay = 100ms});
    advance(5s);
    BOOST_TEST(sent(verb::acquire) == 3u, "to ask how long it takes costs them less");
    BOOST_TEST(sent(verb::watch) > 3u * 20u);
    BOOST_TEST(!waiter.ec.has_value());
    freed_by_foreigner();
    advance(150ms);
    BOOST_TEST(waiter.ec.has_value());
}

// They grow while somebody holds the lock. When it has become free, they begin anew.
BOOST_FIXTURE_TEST_CASE(random_delays_do_not_stay_long_after_a_race, line_world)
{
    for (auto& n : nodes) n->watches = false;
    taken_by_foreigner();
    auto& waiter = ask({.ttl = 10s, .min_retry_delay = 1ms, .max_retry_delay = 2s});
    advance(30s);
    freed_by_foreigner();
    for (int i = 0; counters().wakeups == 0 && i < 400'000; ++i) advance(10us);
    BOOST_REQUIRE(counters().wakeups == 1u);
    taken_by_foreigner();  // somebody was quicker
    auto const before = nodes[0]->count(verb::watch);
    advance(50ms);
    BOOST_TEST(nodes[0]->count(verb::watch) >= before + 4u);
    BOOST_TEST(!waiter.ec.has_value());
}

BOOST_FIXTURE_TEST_CASE(what_was_watched_is_asked_for_again_after_a_reconnect, line_world)
{
    taken_by_foreigner();
    auto options = usual;
    options.poll_interval = 2s;
    auto& waiter = ask(options);
    advance(100ms);
    for (auto& n : nodes) {
        n->cut();
        n->connect();
    }
    freed_by_foreigner();
    advance(200ms);
    BOOST_TEST(waiter.ec.has_value());
}

// Several names.

BOOST_FIXTURE_TEST_CASE(several_names_are_one_lease, line_world)
{
    redlock::lock all{*client, {"b", "a", "c"}, usual};
    BOOST_TEST(all.name() == "a, b, c");
    BOOST_TEST(all.names().size() == 3u);
    auto& held = ask(all);
    advance(1ms);
    BOOST_REQUIRE(held.ec.has_value());
    BOOST_TEST(!*held.ec);
    BOOST_TEST(held.held.name() == "a, b, c");
    BOOST_TEST(keys() == 9u);
    auto& one = ask(redlock::lock{*client, "b", usual});
    advance(30s);
    BOOST_TEST(held.held.valid());
    BOOST_TEST(!one.ec.has_value());
    auto const token = held.held.token();
    release(held.held);
    advance(10ms);
    BOOST_REQUIRE(one.ec.has_value());
    BOOST_TEST(one.held.token() > token);
    BOOST_TEST(keys() == 3u);
}

BOOST_FIXTURE_TEST_CASE(all_of_several_names_or_none, line_world)
{
    auto& one = ask(redlock::lock{*client, "b", usual});
    advance(1ms);
    auto& all = ask(redlock::lock{*client, {"a", "b", "c"}, usual});
    auto& rest = ask(redlock::lock{*client, {"a", "c"}, usual});
    advance(1ms);
    BOOST_TEST(!all.ec.has_value());
    BOOST_REQUIRE(rest.ec.has_value());
    BOOST_TEST(!*rest.ec);
    auto const token = rest.held.token();
    release(one.held);
    advance(1s);
    BOOST_TEST(!all.ec.has_value());
    release(rest.held);
    advance(1s);
    BOOST_REQUIRE(all.ec.has_value());
    BOOST_TEST(all.held.token() > token);
    BOOST_TEST(keys() == 9u);
}

BOOST_FIXTURE_TEST_CASE(who_waits_for_several_names_is_told_when_any_of_them_is_free, line_world)
{
    auto options = usual;
    options.poll_interval = 1min;
    for (auto& n : nodes) n->set("b", "foreign");
    auto& all = ask(redlock::lock{*client, {"a", "b"}, options});
    advance(1s);
    BOOST_REQUIRE(!all.ec.has_value());
    for (auto& n : nodes) n->del("b");
    advance(10ms);
    BOOST_REQUIRE(all.ec.has_value());
    BOOST_TEST(!*all.ec);
}

// The nodes do not tell a client of what it does itself.
BOOST_FIXTURE_TEST_CASE(a_lock_that_shares_a_name_with_ours_is_not_waited_for_in_vain, line_world)
{
    auto options = usual;
    options.poll_interval = 1min;
    auto& held = ask(redlock::lock{*client, {"a", "b"}, options});
    advance(1ms);
    auto& waiter = ask(redlock::lock{*client, {"b", "c"}, options});
    advance(round_trip);  // refused: the nodes are asked how long they keep the keys
    BOOST_REQUIRE(sent(verb::watch) == 0u);
    advance(round_trip / 2);
    BOOST_REQUIRE(sent(verb::watch) == 3u);  // and have said it, but the answers are not here yet
    release(held.held);
    advance(1s);
    BOOST_REQUIRE(waiter.ec.has_value());
    BOOST_TEST(!*waiter.ec);
}

BOOST_FIXTURE_TEST_CASE(several_names_in_any_order_are_the_same_lock, line_world)
{
    auto& first = ask(redlock::lock{*client, {"a", "b"}, usual});
    advance(1ms);
    auto& second = ask(redlock::lock{*client, std::vector<std::string>{"b", "a"}, usual});
    release(first.held);
    BOOST_TEST(second.ec.has_value());
    BOOST_TEST(counters().handoffs == 1u);
}

BOOST_FIXTURE_TEST_CASE(names_that_make_no_sense_are_refused, line_world)
{
    BOOST_CHECK_THROW((redlock::lock{*client, std::vector<std::string>{}, usual}), std::invalid_argument);
    BOOST_CHECK_THROW((redlock::lock{*client, {"a", ""}, usual}), std::invalid_argument);
    BOOST_CHECK_THROW((redlock::lock{*client, {"a", "b", "a"}, usual}), std::invalid_argument);
    BOOST_CHECK_THROW((redlock::lock{*client, {"a", "b:fence"}, usual}), std::invalid_argument);
    BOOST_CHECK_THROW((redlock::lock{*client, std::vector<std::string>(65, "a"), usual}), std::invalid_argument);
    redlock::lock const two{*client, {"a", "b"}};  // and not a string from two pointers
    BOOST_TEST(two.name() == "a, b");
}

// max_hold begins anew with each holder, so it is no reason to ask the nodes.
BOOST_FIXTURE_TEST_CASE(a_short_max_hold_does_not_keep_a_lease_from_being_handed_over, line_world)
{
    lock_options const options{.ttl = 10s, .max_local_hold = 10min, .max_hold = 2s};
    asked& first = acquire(options);
    asked& second = ask(options);
    advance(1500ms);
    auto const extensions = sent(verb::extend);
    BOOST_TEST(!release(first.held));
    advance(1ms);
    BOOST_REQUIRE(second.ec.has_value());
    BOOST_TEST(!*second.ec);
    BOOST_TEST(counters().handoffs == 1u);
    BOOST_TEST(sent(verb::extend) == extensions, "nor to ask for more validity");
    advance(1900ms);
    BOOST_TEST(second.held.valid());
    advance(200ms);
    BOOST_TEST(second.held.lost_error() == errc::max_hold_exceeded);
}

// The nodes are further away than they were a moment ago, and have no more to do.
BOOST_AUTO_TEST_CASE(one_fast_attempt_does_not_make_all_later_ones_look_slow)
{
    simulation sim;
    std::deque<redlock::client> clients;
    for (char const* name : {"a", "b", "c"}) clients.push_back(sim.make_client(name));
    sim.run_for(1s);
    auto warm_up = [](redlock::client& with) -> asio::awaitable<void> {
        redlock::lock const resource{with, "another"};
        auto held = co_await resource.acquire(asio::use_awaitable);
        co_await held.release(asio::use_awaitable);
    };
    for (auto& each : clients) sim.run(warm_up(each));
    for (std::size_t node = 0; node < 3; ++node) sim.node(node).round_trip(5ms);

    bool go_on = true;
    duration longest{};
    auto work = [&](redlock::client& with) -> asio::awaitable<void> {
        redlock::lock const resource{with, "resource", {.ttl = 5s}};
        while (go_on) {
            auto const asked = virtual_clock::now();
            auto held = co_await resource.acquire(asio::use_awaitable);
            longest = std::max(longest, virtual_clock::now() - asked);
            co_await testing::sleep(1ms);
            co_await held.release(asio::use_awaitable);
        }
    };
    for (auto& each : clients) asio::co_spawn(sim.context(), work(each), asio::detached);
    sim.run_for(30s);
    go_on = false;
    sim.run_for(5s);
    BOOST_TEST((longest < 2s), longest / 1ms << " ms");
}

BOOST_AUTO_TEST_SUITE_END()
