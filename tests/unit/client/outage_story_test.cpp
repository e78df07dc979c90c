// What a client without an observer says when no lock can be had, word for word.
#include "support/world.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/detached.hpp>
#include <boost/test/unit_test.hpp>

#include <memory>
#include <string>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;

// Tries every half a second, so that sentences come at known times.
constexpr lock_options steady{
    .ttl = 10s, .node_timeout = 250ms, .min_retry_delay = 500ms, .max_retry_delay = 500ms, .poll_interval = 500ms};

struct outage_world : world {
    explicit outage_world(std::shared_ptr<observer> told = nullptr, bool nothing_was_locked = false)
        : world{3, 8'192, std::move(told), 30s, [this](std::string_view sentence) { said.emplace_back(sentence); }, nothing_was_locked}
    {
    }

    void wait_for_the_lock(lock_options const& options = steady)
    {
        redlock::lock const resource{*client, "resource", options};
        resource.acquire([this](error_code ec, lease l) {
            if (!ec) held.push_back(std::move(l));
        });
        settle();
    }

    void lose(std::size_t node)
    {
        nodes[node]->refuse_connections = true;
        nodes[node]->cut();
        settle();
    }

    std::vector<std::string> said;
    std::vector<lease> held;
};

using said_words = std::vector<std::string>;

}  // namespace

#define CHECK_SAID(...)                                                                            \
    do {                                                                                           \
        said_words const expected = __VA_ARGS__;                                                   \
        BOOST_CHECK_EQUAL_COLLECTIONS(said.begin(), said.end(), expected.begin(), expected.end()); \
    } while (false)

BOOST_AUTO_TEST_SUITE(outage_story)

BOOST_FIXTURE_TEST_CASE(run_was_not_called, outage_world)
{
    wait_for_the_lock();
    advance(1300ms);
    CHECK_SAID({});
    advance(1s);
    CHECK_SAID({"for 1.8 s no lock could be acquired: client.run() was not called"});
    start();
    advance(5s);
    BOOST_TEST(held.size() == 1u);
    BOOST_TEST(said.size() == 1u);
}

// Whatever the reason is, and however the pauses between the attempts are drawn.
BOOST_AUTO_TEST_CASE(with_default_options_within_three_seconds)
{
    for (int repeated = 0; repeated < 20; ++repeated) {
        outage_world forgot_run;
        forgot_run.wait_for_the_lock({});
        forgot_run.advance(3s);
        BOOST_TEST(forgot_run.said.size() == 1u);

        outage_world unreachable;
        unreachable.start();
        unreachable.lose(0);
        unreachable.lose(1);
        unreachable.wait_for_the_lock({});
        unreachable.advance(3s);
        BOOST_TEST(unreachable.said.size() == 1u);

        outage_world silent;
        silent.start();
        silent.nodes[0]->stop();
        silent.nodes[1]->stop();
        silent.wait_for_the_lock({});
        silent.advance(3s);
        BOOST_TEST(silent.said.size() == 1u);

        outage_world new_servers;
        for (auto& n : new_servers.nodes) n->restart_empty();
        new_servers.start();
        new_servers.wait_for_the_lock({});
        new_servers.advance(3s);
        BOOST_TEST(new_servers.said.size() == 1u);
    }
}

BOOST_FIXTURE_TEST_CASE(no_majority_can_be_reached, outage_world)
{
    start();
    lose(0);
    lose(2);
    wait_for_the_lock();
    advance(1300ms);
    CHECK_SAID({});
    advance(200ms);
    CHECK_SAID({"for 1.5 s no lock could be acquired: node0, node2: no connection: cut"});
}

BOOST_FIXTURE_TEST_CASE(nodes_that_do_not_answer, outage_world)
{
    start();
    nodes[0]->stop();
    nodes[1]->stop();
    wait_for_the_lock();
    advance(4s);
    CHECK_SAID({"for 1.8 s no lock could be acquired: node0, node1: no answer in time"});
}

BOOST_FIXTURE_TEST_CASE(most_nodes_that_lost_their_data_and_recover, outage_world)
{
    start();
    nodes[0]->restart_empty();
    nodes[1]->restart_empty();
    settle();
    wait_for_the_lock();
    advance(35s);
    BOOST_TEST(held.size() == 1u);
    CHECK_SAID(
        {"for 1.6 s no lock could be acquired: node0, node1: it is new, or lost its data: 29 s left until earlier leases have expired; so "
         "did most nodes, so that all of these vote again together, with tokens from the wall clock",
         "2 of 3 nodes had lost their data, and vote again after the wait for earlier leases, with tokens from the wall clock "
         "(config::after_majority_loss): node0, node1"});
}

BOOST_FIXTURE_TEST_CASE(once_for_each_cause_and_again_after_a_minute, outage_world)
{
    start();
    lose(0);
    lose(1);
    wait_for_the_lock();
    advance(70s);
    CHECK_SAID({"for 1.5 s no lock could be acquired: node0, node1: no connection: cut",
                "for 62 s no lock could be acquired: node0, node1: no connection: cut"});
    said.clear();
    lose(2);
    advance(10s);
    CHECK_SAID({"for 70 s no lock could be acquired: node0, node1, node2: no connection: cut"});
}

BOOST_FIXTURE_TEST_CASE(it_begins_anew_when_locks_could_be_had_meanwhile, outage_world)
{
    start();
    lose(0);
    lose(1);
    wait_for_the_lock();
    advance(1s);
    nodes[0]->connect();
    advance(1s);
    BOOST_TEST_REQUIRE(held.size() == 1u);
    held.clear();
    advance(1s);
    lose(0);
    wait_for_the_lock();
    advance(1300ms);
    CHECK_SAID({});
    advance(200ms);
    CHECK_SAID({"for 1.5 s no lock could be acquired: node0, node1: no connection: cut"});
}

BOOST_FIXTURE_TEST_CASE(attempts_one_by_one_count_as_well, outage_world)
{
    start();
    lose(0);
    lose(1);
    redlock::lock const resource{*client, "resource", steady};
    for (int i = 0; i < 3; ++i) {
        CHECK_SAID({});
        resource.try_acquire(asio::detached);
        advance(1s);
    }
    CHECK_SAID({"for 2.0 s no lock could be acquired: node0, node1: no connection: cut"});
}

BOOST_FIXTURE_TEST_CASE(an_outage_while_it_waits_for_a_holder, outage_world)
{
    start();
    for (auto& n : nodes) n->set("resource", "somebody else's");
    wait_for_the_lock();
    advance(10s);
    CHECK_SAID({});
    lose(1);
    lose(2);
    advance(5s);
    BOOST_TEST_REQUIRE(said.size() == 1u);
    BOOST_TEST(said[0].ends_with(" s no lock could be acquired: node1, node2: no connection: cut"), said[0]);
}

BOOST_FIXTURE_TEST_CASE(nothing_when_somebody_else_holds_it, outage_world)
{
    start();
    for (auto& n : nodes) n->set("resource", "somebody else's");
    wait_for_the_lock();
    lose(0);  // and a majority is left
    advance(5min);
    CHECK_SAID({});
}

namespace {

std::string own_lease(std::string_view waited)
{
    return "for " + std::string{waited} +
           " an acquisition of resource has waited for this client itself, which holds it; a coroutine that acquires what it holds waits "
           "for ever";
}

}  // namespace

BOOST_FIXTURE_TEST_CASE(after_three_seconds_when_this_client_holds_it_itself, outage_world)
{
    start();
    wait_for_the_lock();
    advance(10s);
    BOOST_TEST_REQUIRE(held.size() == 1u);
    wait_for_the_lock();
    advance(2900ms);
    CHECK_SAID({});
    advance(100ms);
    CHECK_SAID({own_lease("3.0 s")});
    advance(1min);
    BOOST_TEST(held.size() == 1u);
    CHECK_SAID({own_lease("3.0 s"), own_lease("63 s")});
    held.clear();
    advance(1s);
    BOOST_TEST(held.size() == 1u);
    advance(5min);
    BOOST_TEST(said.size() == 2u);
}

BOOST_FIXTURE_TEST_CASE(of_several_locks_that_this_client_holds_itself_one_is_named_in_a_minute, outage_world)
{
    start();
    auto const keep = [this](error_code ec, lease l) {
        if (!ec) held.push_back(std::move(l));
    };
    redlock::lock const other{*client, "other", steady};
    wait_for_the_lock();
    other.acquire(keep);
    advance(1s);
    BOOST_TEST_REQUIRE(held.size() == 2u);
    wait_for_the_lock();
    advance(1s);
    other.acquire(keep);
    advance(10s);
    CHECK_SAID({own_lease("3.0 s")});
}

BOOST_FIXTURE_TEST_CASE(a_waiter_that_was_there_when_the_lease_was_acquired, outage_world)
{
    start();
    wait_for_the_lock();
    wait_for_the_lock();
    BOOST_TEST(held.empty());
    advance(3100ms);
    CHECK_SAID({own_lease("3.0 s")});
}

BOOST_FIXTURE_TEST_CASE(nothing_when_leases_of_this_client_are_short, outage_world)
{
    start();
    for (int i = 0; i < 5; ++i) wait_for_the_lock();
    for (int i = 0; i < 4; ++i) {
        advance(2s);
        BOOST_TEST_REQUIRE(held.size() == 1u);
        held.clear();
        advance(900ms);
    }
    CHECK_SAID({});
    BOOST_TEST(held.size() == 1u);
    wait_for_the_lock();
    advance(3s);
    CHECK_SAID({own_lease("3.0 s")});
}

// Permits come and go, and nobody knows whose release the first one waits for.
BOOST_FIXTURE_TEST_CASE(nothing_when_this_client_has_all_permits, outage_world)
{
    start();
    redlock::semaphore const one{*client, "resource", {.permits = 1, .lock = steady}};
    auto const keep = [this](error_code ec, lease l) {
        if (!ec) held.push_back(std::move(l));
    };
    one.acquire(keep);
    advance(1s);
    one.acquire(keep);
    advance(4s);
    BOOST_TEST(held.size() == 1u);
    CHECK_SAID({});
}

BOOST_AUTO_TEST_CASE(bootstrap_says_that_nobody_waits)
{
    for (bool const has_data : {false, true}) {
        outage_world w{nullptr, true};
        if (!has_data)
            for (auto& n : w.nodes) n->restart_empty();
        w.start();
        w.wait_for_the_lock();
        w.advance(1s);
        BOOST_TEST(w.held.size() == 1u);
        said_words const expected{
            "config::bootstrap is set and no node has data of redlock: the wait of 31 s for leases that may have been lost is skipped"};
        if (has_data) BOOST_TEST(w.said.empty());
        else BOOST_TEST(w.said == expected, boost::test_tools::per_element());
    }
}

BOOST_AUTO_TEST_CASE(nothing_when_there_is_an_observer)
{
    struct silent_observer final : observer {};
    outage_world w{std::make_shared<silent_observer>()};
    w.wait_for_the_lock();
    w.advance(5min);
    BOOST_TEST(w.said.empty());
}

BOOST_AUTO_TEST_CASE(nothing_when_it_is_switched_off)
{
    world w;
    redlock::lock const resource{*w.client, "resource", steady};
    std::optional<error_code> ec;
    resource.acquire([&](error_code e, lease) { ec = e; });
    w.advance(5min);
    BOOST_TEST(!ec.has_value());
}

BOOST_AUTO_TEST_SUITE_END()
