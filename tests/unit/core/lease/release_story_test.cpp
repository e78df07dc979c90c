// Releases that nodes do not take at once, and what may not overtake what.
#include "support/world.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/test/unit_test.hpp>

namespace {

using namespace redlock::testing;
using namespace redlock;
using detail::verb;

struct release_world : world {
    release_world() { start(); }

    lease acquire(std::string const& name, lock_options const& options = {.ttl = 60s})
    {
        lease held;
        redlock::lock{*client, name, options}.acquire([&](error_code ec, lease l) {
            BOOST_TEST(!ec);
            held = std::move(l);
        });
        advance(1ms);
        BOOST_REQUIRE(held.valid());
        return held;
    }

    // With an answer after so much time at the latest.
    error_code release(lease& held, std::chrono::milliseconds within = 1ms)
    {
        std::optional<error_code> result;
        held.release([&](error_code ec) { result = ec; });
        advance(within);
        BOOST_REQUIRE(result.has_value());
        return *result;
    }

    void complain(char const* words)
    {
        for (auto& n : nodes) n->always = detail::reply{vote::failed, errc::server_error, words};
    }
    void recover()
    {
        for (auto& n : nodes) n->always.reset();
    }

    std::size_t releases_at(std::size_t node) const { return nodes[node]->count(verb::release); }
};

constexpr char const* no_replicas = "NOREPLICAS Not enough good replicas to write.";

}  // namespace

BOOST_AUTO_TEST_SUITE(release_story)

BOOST_FIXTURE_TEST_CASE(releasing_confirms_with_a_majority_and_tells_lost_from_unknown, release_world)
{
    lease first = acquire("resource");
    BOOST_TEST(!release(first));
    BOOST_TEST(!first.valid());
    BOOST_TEST(!release(first));  // again: the same answer, nothing is sent twice
    advance(1ms);
    BOOST_TEST(nodes[0]->count(verb::release) == 1u);

    lease second = acquire("resource");
    nodes[0]->stop();
    nodes[1]->stop();
    BOOST_TEST(release(second, 1s) == errc::release_unconfirmed);
    nodes[0]->go_on();
    nodes[1]->go_on();
    advance(1ms);
    BOOST_TEST(keys() == 0u);

    lease third = acquire("resource");
    nodes[0]->del("resource");
    nodes[1]->del("resource");
    BOOST_TEST(release(third) == errc::lease_lost);
}

BOOST_FIXTURE_TEST_CASE(a_release_that_is_answered_with_an_error_is_repeated, release_world)
{
    auto held = acquire("resource");
    complain(no_replicas);
    BOOST_TEST(release(held) == errc::release_unconfirmed);
    BOOST_TEST(client->status().releases_pending == 0u);
    advance(2s);
    BOOST_TEST(keys() == 3u);
    recover();
    advance(5s);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(so_is_one_of_a_minority, release_world)
{
    auto held = acquire("resource");
    nodes[1]->always = detail::reply{vote::failed, errc::server_error, "BUSY Redis is busy running a script."};
    BOOST_TEST(!release(held));
    BOOST_TEST(keys() == 1u);
    advance(50ms);
    recover();
    advance(60ms);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(each_of_several_is_repeated_in_its_own_time, release_world)
{
    auto first = acquire("first"), second = acquire("second");
    nodes[1]->always = detail::reply{vote::failed, errc::server_error, "BUSY Redis is busy running a script."};
    BOOST_TEST(!release(first));
    advance(50ms);
    BOOST_TEST(!release(second));
    recover();
    advance(60ms);
    BOOST_TEST(!nodes[1]->get("first"));
    BOOST_TEST(nodes[1]->get("second").has_value());
    advance(50ms);
    BOOST_TEST(!nodes[1]->get("second"));
}

BOOST_FIXTURE_TEST_CASE(what_a_failed_attempt_was_granted_is_given_back_in_spite_of_errors, release_world)
{
    nodes[0]->set("resource", "foreign");
    nodes[1]->set("resource", "foreign");
    nodes[2]->back = 10ms;
    std::optional<error_code> result;
    redlock::lock{*client, "resource", {.ttl = 60s}}.try_acquire([&](error_code ec, lease) { result = ec; });
    advance(120us);  // the majority's answers are there, and the release is on its way
    BOOST_TEST(nodes[2]->get("resource").has_value());
    nodes[2]->always = detail::reply{vote::failed, errc::server_error, "MISCONF"};
    advance(1s);
    BOOST_TEST(result.value() == errc::contended);
    BOOST_TEST(nodes[2]->get("resource").has_value());
    nodes[2]->always.reset();
    advance(5s);
    BOOST_TEST(!nodes[2]->get("resource"));
}

BOOST_FIXTURE_TEST_CASE(errors_are_answered_with_longer_and_longer_pauses, release_world)
{
    auto held = acquire("resource");
    complain("NOPERM");
    release(held);
    advance(30s);
    std::vector<duration> pauses;
    time_point last{};
    for (auto const& r : nodes[0]->received) {
        if (r.what != verb::release) continue;
        if (last != time_point{}) pauses.push_back(r.at - last);
        last = r.at;
    }
    BOOST_REQUIRE(pauses.size() >= 7u);
    BOOST_TEST(pauses.size() <= 12u);
    BOOST_TEST((pauses[0] >= 100ms && pauses[0] < 101ms));
    for (std::size_t i = 1; i < pauses.size(); ++i) BOOST_TEST((pauses[i] >= std::min<duration>(5s, 2 * pauses[i - 1] - 1ms)));
    BOOST_TEST((pauses.back() < 5'001ms));
}

BOOST_FIXTURE_TEST_CASE(a_release_is_not_repeated_for_longer_than_the_key_can_live, release_world)
{
    auto held = acquire("resource", {.ttl = 1s});
    complain("NOPERM");
    release(held);
    advance(3s);
    BOOST_TEST(keys() == 0u);
    auto const before = releases_at(0);
    advance(10min);
    BOOST_TEST(releases_at(0) == before);
}

BOOST_FIXTURE_TEST_CASE(a_crowd_of_them_shares_messages, release_world)
{
    constexpr std::size_t many = 300;
    std::vector<lease> held;
    for (std::size_t i = 0; i < many; ++i) held.push_back(acquire("lock" + std::to_string(i)));
    complain(no_replicas);
    for (lease& each : held) {
        each = lease{};
        advance(3us);
    }
    advance(50ms);
    BOOST_TEST(releases_at(0) == many);
    recover();
    auto const before = nodes[0]->batches;
    advance(100ms);
    BOOST_TEST(keys() == 0u);
    BOOST_TEST(nodes[0]->batches - before <= 4u);
}

BOOST_FIXTURE_TEST_CASE(a_connection_that_is_lost_between_two_tries_makes_no_difference, release_world)
{
    auto held = acquire("resource");
    complain(no_replicas);
    release(held);
    nodes[1]->cut();
    advance(150ms);
    recover();
    nodes[1]->connect();
    advance(1s);
    BOOST_TEST(keys() == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_client_that_is_gone_repeats_nothing_and_leaves_nothing_behind, release_world)
{
    auto held = acquire("resource");
    complain(no_replicas);
    release(held);
    held = lease{};
    BOOST_TEST(nodes[0]->owned);
    client.reset();
    advance(1s);
    BOOST_TEST(!nodes[0]->owned);
    auto const before = releases_at(0);
    advance(1min);
    BOOST_TEST(releases_at(0) == before);
}

BOOST_FIXTURE_TEST_CASE(the_context_of_one_that_repeats_may_go_first, release_world)
{
    auto held = acquire("resource");
    complain(no_replicas);
    release(held);
    held = lease{};
    context.reset();
    BOOST_TEST(!nodes[0]->owned);
}

// Who gives up in the turn of the loop in which he asked.
BOOST_FIXTURE_TEST_CASE(a_release_stays_behind_its_acquire, release_world)
{
    asio::cancellation_signal signal;
    std::optional<error_code> result;
    redlock::lock const resource{*client, "resource", {.ttl = 60s}};
    resource.acquire(asio::bind_cancellation_slot(signal.slot(), [&](error_code ec, lease) { result = ec; }));
    signal.emit(asio::cancellation_type::terminal);
    advance(1ms);
    BOOST_TEST(result.value() == asio::error::operation_aborted);
    auto const& received = nodes[0]->received;
    std::vector<verb> about_it;
    for (auto const& r : received)
        if (r.key == "resource") about_it.push_back(r.what);
    BOOST_REQUIRE(about_it.size() == 2u);
    BOOST_TEST((about_it[0] == verb::acquire));
    BOOST_TEST((about_it[1] == verb::release));
    BOOST_TEST(keys() == 0u);
}

// A client that is used always has releases under way.
BOOST_FIXTURE_TEST_CASE(a_drain_waits_for_what_was_released_before_it_and_for_nothing_later, release_world)
{
    auto const drain = [this](std::optional<error_code>& into) {
        client->drain([&into](error_code ec) { into = ec; });
        advance(1ms);
    };
    auto const release_while_one_is_silent = [this](lease& held, std::size_t silent) {
        nodes[silent]->stop();
        held = lease{};
        advance(1ms);
    };
    auto const answer = [this](std::size_t node) {
        nodes[node]->go_on();
        advance(1ms);
    };
    lease first = acquire("first"), second = acquire("second"), third = acquire("third");
    std::optional<error_code> after_first, after_second, again, after_all;
    release_while_one_is_silent(first, 0);
    drain(after_first);
    BOOST_TEST(!after_first.has_value());
    release_while_one_is_silent(second, 1);
    answer(0);
    BOOST_REQUIRE(after_first.has_value());
    BOOST_TEST(!*after_first);
    BOOST_TEST(client->status().releases_pending == 1u, "the second");

    drain(after_second);
    drain(again);
    release_while_one_is_silent(third, 2);
    drain(after_all);
    BOOST_TEST(!after_second.has_value());
    answer(1);
    BOOST_REQUIRE((after_second.has_value() && again.has_value()));
    BOOST_TEST((!*after_second && !*again));

    BOOST_TEST(!after_all.has_value());
    answer(2);
    BOOST_REQUIRE(after_all.has_value());
    BOOST_TEST(!*after_all);
    BOOST_TEST(client->status().releases_pending == 0u);
}

BOOST_FIXTURE_TEST_CASE(a_drain_that_is_given_up_does_not_hold_the_others_up, release_world)
{
    lease first = acquire("first");
    nodes[0]->stop();
    first = lease{};
    advance(1ms);
    asio::cancellation_signal signal;
    std::optional<error_code> given_up, waits;
    client->drain(asio::bind_cancellation_slot(signal.slot(), [&](error_code ec) { given_up = ec; }));
    client->drain([&](error_code ec) { waits = ec; });
    advance(1ms);
    signal.emit(asio::cancellation_type::terminal);
    advance(1ms);
    BOOST_TEST(given_up.value() == asio::error::operation_aborted);
    BOOST_TEST(!waits.has_value());
    nodes[0]->go_on();
    advance(1ms);
    BOOST_TEST(waits.value() == error_code{});
}

BOOST_AUTO_TEST_SUITE_END()
