// What a client without an observer says of leases that are lost, of an executor that was blocked, and of nodes that it never reached.
#include "support/world.hpp"

#include <boost/test/unit_test.hpp>

#include <string>
#include <vector>

namespace {

using namespace redlock::testing;
using namespace redlock;

struct loss_world : world {
    explicit loss_world(std::shared_ptr<observer> told = nullptr)
        : world{3, 8'192, std::move(told), 30s, [this](std::string_view sentence) { said.emplace_back(sentence); }}
    {
    }

    void hold(std::string name, lock_options const& options = {.ttl = 10s})
    {
        redlock::lock const resource{*client, std::move(name), options};
        resource.acquire([this](error_code ec, lease l) {
            if (!ec) held.push_back(std::move(l));
        });
        advance(1ms);
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

struct silent_observer final : observer {};

std::string const lost_words = ": the lease is lost: the critical section is no longer protected";

}  // namespace

#define CHECK_SENTENCES(world, ...) BOOST_TEST((world).said == (std::vector<std::string> __VA_ARGS__), boost::test_tools::per_element())

BOOST_AUTO_TEST_SUITE(loss_story)

BOOST_FIXTURE_TEST_CASE(a_lease_that_too_few_nodes_could_extend, loss_world)
{
    start();
    hold("reports");
    lose(0);
    lose(2);
    advance(12s);
    BOOST_REQUIRE(held.size() == 1u);
    BOOST_TEST(!held[0].valid());
    CHECK_SENTENCES(*this, {"reports" + lost_words + "; node0, node2: no connection: cut"});
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_stopped_nodes_did_not_extend, loss_world)
{
    start();
    hold("reports");
    nodes[0]->stop();
    nodes[1]->stop();
    advance(12s);
    CHECK_SENTENCES(*this, {"reports" + lost_words + "; node0, node1: no answer in time"});
}

BOOST_FIXTURE_TEST_CASE(a_lease_whose_keys_are_of_another_holder, loss_world)
{
    start();
    hold("reports");
    for (auto& n : nodes) n->set("reports", "foreign");
    advance(12s);
    BOOST_TEST_REQUIRE(said.size() == 1u);
    BOOST_TEST(said[0].starts_with("reports" + lost_words + "; node0, node1"), said[0]);
    BOOST_TEST(said[0].find(": its key is gone, or another holder's") != std::string::npos, said[0]);
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_was_held_for_max_hold, loss_world)
{
    start();
    hold("reports", {.ttl = 10s, .max_hold = 20s});
    advance(30s);
    CHECK_SENTENCES(*this, {"reports: the lease was held for max_hold, so it is not extended any more"});
}

BOOST_FIXTURE_TEST_CASE(of_many_leases_one_is_named_and_the_others_are_counted, loss_world)
{
    start();
    for (int i = 0; i < 5; ++i) hold("reports" + std::to_string(i));
    lose(0);
    lose(1);
    advance(20s);
    BOOST_TEST_REQUIRE(said.size() == 2u);
    BOOST_TEST(said[0] == "reports0" + lost_words + "; node0, node1: no connection: cut");
    BOOST_TEST(said[1] == "4 more leases were lost soon after");

    // The next time, only those that were lost then.
    for (auto& n : nodes) n->refuse_connections = false;
    for (std::size_t node : {0u, 1u}) nodes[node]->connect();
    advance(1s);
    for (int i = 5; i < 7; ++i) hold("reports" + std::to_string(i));
    BOOST_TEST(held.size() == 7u);
    lose(0);
    lose(1);
    advance(20s);
    BOOST_TEST_REQUIRE(said.size() == 4u);
    BOOST_TEST(said[3] == "1 more lease was lost soon after");
}

// The same nodes were missing both times.
BOOST_FIXTURE_TEST_CASE(each_loss_has_its_own_reason, loss_world)
{
    start();
    hold("reports");
    lose(0);
    lose(1);
    advance(20s);
    for (std::size_t node : {0u, 1u}) {
        nodes[node]->refuse_connections = false;
        nodes[node]->connect();
    }
    advance(2min);
    hold("bills");
    for (std::size_t node : {0u, 1u}) nodes[node]->stop();
    advance(20s);
    CHECK_SENTENCES(*this, {"reports" + lost_words + "; node0, node1: no connection: cut",
                            "bills" + lost_words + "; node0, node1: no answer in time"});
}

BOOST_FIXTURE_TEST_CASE(what_ends_on_purpose_is_not_said, loss_world)
{
    start();
    lock_options once{.ttl = 10s};
    once.auto_extend = false;
    hold("reports", once);
    hold("released");
    held[1] = lease{};
    hold("cancelled");
    advance(20s);
    finish();
    CHECK_SENTENCES(*this, {});
}

BOOST_AUTO_TEST_CASE(an_observer_is_told_instead)
{
    loss_world w{std::make_shared<silent_observer>()};
    w.start();
    w.hold("reports");
    w.lose(0);
    w.lose(1);
    w.advance(20s);
    CHECK_SENTENCES(w, {});
}

// Whenever it begins.
BOOST_AUTO_TEST_CASE(an_executor_that_is_blocked_for_more_than_a_third_of_the_ttl)
{
    for (auto begins = 0ms; begins < 7s; begins += 300ms) {
        loss_world w;
        w.start();
        w.hold("reports", {.ttl = 9s});
        w.advance(begins);
        w.pause(2'200ms);
        w.advance(1s);
        CHECK_SENTENCES(w, {});
        w.pause(3'100ms);
        w.advance(1s);
        BOOST_TEST_REQUIRE(w.said.size() == 1u, "it began " << begins.count() << " ms after the lease");
        BOOST_TEST(w.said[0].starts_with("for at least "), w.said[0]);
        BOOST_TEST(w.said[0].find(" the client's executor did not run") != std::string::npos, w.said[0]);
        w.pause(4s);
        w.advance(1s);
        BOOST_TEST(w.said.size() == 1u, "not again before a minute has passed");
    }
}

BOOST_FIXTURE_TEST_CASE(without_leases_nobody_minds, loss_world)
{
    start();
    hold("reports");
    held.clear();
    advance(2s);
    pause(1min);
    advance(1s);
    CHECK_SENTENCES(*this, {});
}

// It is watched while there are leases, and again when there are some again.
BOOST_FIXTURE_TEST_CASE(an_executor_that_is_blocked_after_a_time_without_leases, loss_world)
{
    start();
    hold("reports", {.ttl = 9s});
    held.clear();
    advance(20s);
    hold("reports", {.ttl = 9s});
    advance(1s);
    pause(3'100ms);
    advance(1s);
    BOOST_TEST_REQUIRE(said.size() == 1u);
    BOOST_TEST(said[0].find(" the client's executor did not run") != std::string::npos, said[0]);
}

BOOST_FIXTURE_TEST_CASE(a_lease_that_was_lost_since_the_executor_was_blocked, loss_world)
{
    start();
    hold("reports");
    pause(20s);
    advance(1ms);
    BOOST_TEST_REQUIRE(said.size() == 2u);
    BOOST_TEST((said[0].starts_with("for at least ") || said[1].starts_with("for at least ")));
    std::string const text = "reports" + lost_words + "; it was extended too late: the executor was blocked, or the process stopped";
    BOOST_TEST((said[0] == text || said[1] == text));
}

BOOST_FIXTURE_TEST_CASE(a_node_that_was_never_reached, loss_world)
{
    nodes[1]->refuse_connections = true;
    start();
    hold("reports");
    BOOST_TEST(held.size() == 1u);
    advance(4s);
    CHECK_SENTENCES(*this, {});
    advance(5min);
    CHECK_SENTENCES(*this, {"not usable since the start 5.0 s ago: node1: no connection: refused"});
}

// Though it waits for the release of its lease for a while.
BOOST_FIXTURE_TEST_CASE(a_client_that_ends_says_nothing_of_a_node_that_was_never_reached, loss_world)
{
    nodes[1]->refuse_connections = true;
    start();
    hold("reports");
    advance(4800ms);
    for (std::size_t node : {0u, 2u}) nodes[node]->stop();
    finish();
    CHECK_SENTENCES(*this, {});
}

BOOST_FIXTURE_TEST_CASE(a_node_that_was_reached_and_went_away_is_no_such_node, loss_world)
{
    start();
    lose(1);
    advance(5min);
    CHECK_SENTENCES(*this, {});
}

BOOST_AUTO_TEST_SUITE_END()
