// A primary dies and a replica takes its place: what becomes of a lock. Without `replicas` it can get lost, and two hold it; with all
// replicas it cannot.
#include "support/replicated.hpp"

#include <string>

namespace redlock::testing {
namespace {

constexpr lock_options quick{.ttl = 20s, .fencing = false, .node_timeout = 2s};

}  // namespace

BOOST_AUTO_TEST_SUITE(failover)

// "Adds of a key that the master had not replicated are lost": the race of the Redlock page.
BOOST_AUTO_TEST_CASE(without_waiting_two_hold_the_lock)
{
    replicated c{""};
    c.keys_may_stay = true;
    c.run([&]() -> asio::awaitable<void> {
        c.cut_links();
        lock const resource{c.nodes, "r", quick};
        lease first = co_await resource.acquire();
        BOOST_TEST(has(c.primary(), "r"));
        c.fail_over_to(0);
        BOOST_TEST(!has(c.replicas[0], "r"), "it never got there");

        auto const other = c.client_of(c.replicas[0]);
        lock const same{*other, "r", quick};
        lease second = co_await same.acquire();
        BOOST_TEST(second.valid());
        BOOST_TEST(first.valid(), "and its holder has no way of knowing");
        co_await second.release();
        other->cancel();
        bool const ended = co_await eventually([&] { return c.clients_running() == 1; });
        BOOST_TEST(ended);
    });
}

BOOST_AUTO_TEST_CASE(with_all_replicas_who_was_not_replicated_does_not_hold_it)
{
    replicated c{"?replicas=2"};
    c.keys_may_stay = true;
    c.run([&]() -> asio::awaitable<void> {
        c.cut_links();
        lock const resource{c.nodes, "r", quick};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "not_durable");
        c.fail_over_to(0);

        auto const other = c.client_of(c.replicas[0]);
        lock const same{*other, "r", quick};
        lease only = co_await same.acquire();
        BOOST_TEST(only.valid());
        co_await only.release();
        other->cancel();
        bool const ended = co_await eventually([&] { return c.clients_running() == 1; });
        BOOST_TEST(ended);
    });
}

BOOST_AUTO_TEST_CASE(with_all_replicas_who_was_replicated_keeps_it_whoever_is_promoted)
{
    for (std::size_t promoted : {0u, 1u}) {
        replicated c{"?replicas=2"};
        c.keys_may_stay = true;
        c.run([&]() -> asio::awaitable<void> {
            lock const resource{c.nodes, "r", quick};
            lease first = co_await resource.acquire();
            c.fail_over_to(promoted);

            auto const other = c.client_of(c.replicas[promoted]);
            lock const same{*other, "r", quick};
            attempt_report report;
            auto [ec, nothing] = co_await same.try_acquire(report, asio::as_tuple);
            BOOST_TEST(ec == errc::contended);
            BOOST_TEST(verdicts(report) == "refused");
            BOOST_TEST(first.valid());
            other->cancel();
            bool const ended = co_await eventually([&] { return c.clients_running() == 1; });
            BOOST_TEST(ended);
        });
    }
}

// With fencing, the promoted server is another one than the one that was admitted: it drains, whether anything was lost or not.
BOOST_AUTO_TEST_CASE(with_fencing_the_promoted_server_is_quarantined)
{
    for (std::string const parameters : {"", "?replicas=1"}) {
        config settings = quick_config();
        settings.max_ttl = 1'500ms;
        settings.token_retention = 60s;
        settings.bootstrap = true;
        redis_server_options const options;
        replicated c{parameters, 2, settings, options, beginning::empty};
        c.keys_may_stay = true;
        c.run([&]() -> asio::awaitable<void> {
            lock_options const short_ttl{.ttl = 1s, .node_timeout = 500ms};
            lock const resource{c.nodes, "r", short_ttl};
            lease first = co_await resource.acquire();
            auto const token = first.token();
            if (parameters.empty()) wait_for_replicas(c.primary(), 2);
            stopwatch since_failover;
            c.fail_over_to(0);
            follow(c.replicas[1], c.replicas[0]);
            wait_for_replicas(c.replicas[0], 1);

            config careful = settings;
            careful.bootstrap = false;
            auto const other = c.client_of(c.replicas[0], parameters, careful);
            lock const same{*other, "r", short_ttl};
            bool const up = co_await eventually([&] { return other->status().nodes[0].state == node_state::usable; });
            BOOST_TEST(up);
            attempt_report report;
            auto [ec, nothing] = co_await same.try_acquire(report, asio::as_tuple);
            BOOST_TEST(ec == errc::no_majority);
            BOOST_TEST(verdicts(report) == "node_not_admitted");
            bool const drains = co_await eventually([&] { return other->status().nodes[0].admission == admission_state::quarantined; });
            BOOST_TEST(drains);

            lease second = co_await same.acquire();
            BOOST_TEST(since_failover.ms() >= 1'500);
            BOOST_TEST(!first.valid());
            BOOST_TEST(second.token() > token);
            co_await second.release();
            other->cancel();
            bool const ended = co_await eventually([&] { return c.clients_running() == 1; });
            BOOST_TEST(ended);
        });
    }
}

// A replica that has not acknowledged the mark may still follow the old primary, and acknowledge extensions there.
BOOST_AUTO_TEST_CASE(the_quarantine_begins_when_replicas_have_the_mark)
{
    config settings = quick_config();
    settings.max_ttl = 1'500ms;
    settings.trust_uptime = false;  // how long the servers ran before does not count here
    redis_server_options const options;
    replicated c{"?replicas=1", 1, settings, options, beginning::empty};
    c.keys_may_stay = true;
    c.run([&]() -> asio::awaitable<void> {
        bool const up = co_await eventually([&] { return c.status().state == node_state::usable; });
        BOOST_TEST_REQUIRE(up);
        c.replicas[0].stop();
        c.nodes.begin_admission();
        std::string const words = "cannot begin: 0 of 1 replicas acknowledged within 200 ms";
        bool const said = co_await eventually([&] { return mentions(c.status().admission_text, words); });
        BOOST_TEST_REQUIRE(said, c.status().admission_text);
        BOOST_TEST(has(c.primary(), "redlock:node"), "the mark is there all the same");
        BOOST_TEST((c.status().admission == admission_state::uninitialized));
        c.replicas[0].resume();
        stopwatch since_the_replica_is_back;
        bool const admitted = co_await eventually([&] { return c.status().admission == admission_state::admitted; });
        BOOST_TEST(admitted);
        BOOST_TEST(since_the_replica_is_back.ms() >= 1'500, "the whole quarantine lies behind the acknowledgement");
    });
}

// What a lease stands on must be known to every later primary, whichever client wrote it.
BOOST_AUTO_TEST_CASE(a_client_with_another_number_of_replicas_has_no_vote)
{
    replicated c{"?replicas=1"};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", with_tokens};
        lease held = co_await resource.acquire();
        for (std::string const parameters : {"", "?replicas=2"}) {
            auto const other = c.client_of(c.primary(), parameters);
            other->begin_admission();
            std::string const words = "clients of this group wait for 1 replica, and this client waits for ";
            bool const said = co_await eventually([&] { return mentions(other->status().nodes[0].admission_text, words); });
            BOOST_TEST(said, other->status().nodes[0].admission_text);
            lock const another{*other, "another", with_tokens};
            attempt_report report;
            auto [ec, nothing] = co_await another.try_acquire(report, asio::as_tuple);
            BOOST_TEST(ec == errc::no_majority);
            BOOST_TEST(verdicts(report) == "node_not_admitted");
            other->cancel();
            bool const ended = co_await eventually([&] { return c.clients_running() == 1; });
            BOOST_TEST(ended);
        }
        co_await held.extend();
        BOOST_TEST(held.valid(), "they have not taken the node from the others");
    });
}

// Clients of older versions, and those without replicas, have admitted the node. It has to be admitted anew, and forgets nothing on the way.
BOOST_AUTO_TEST_CASE(a_record_without_a_number_of_replicas_is_taken_over)
{
    config settings = quick_config();
    settings.max_ttl = 1'500ms;
    redis_server_options const options;
    replicated c{"?replicas=1", 1, settings, options, beginning::empty};
    c.primary().command({"SET", "redlock:node", replication_id(c.primary()) + " 0000000000000100 0000001500 -"});
    c.primary().command({"SET", "redlock:hw", "700"});
    c.run([&]() -> asio::awaitable<void> {
        lock_options const short_ttl{.ttl = 1s, .node_timeout = 500ms};
        lock const resource{c.nodes, "r", short_ttl};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.token() > 700u);
        BOOST_TEST(c.primary().command({"GET", "redlock:node"}).substr(0, 5) == "k001:");
    });
}

// More than 2K replicas: two sets of K that acknowledge, each with its primary, need not share a server.
BOOST_AUTO_TEST_CASE(a_group_that_is_too_large_for_its_number_gets_no_vote)
{
    replicated c{"?replicas=1", 2};
    c.run([&]() -> asio::awaitable<void> {
        bool const up = co_await eventually([&] { return c.status().state == node_state::usable; });
        BOOST_TEST_REQUIRE(up);
        follow(c.replicas.emplace_back(quick_to_copy({})), c.primary());
        wait_for_replicas(c.primary(), 3);
        std::string const words = "less than a majority of the group";
        bool const left = co_await eventually([&] { return mentions(c.status().last_error_text, words); });
        BOOST_TEST(left, c.status().last_error_text);
        BOOST_TEST(mentions(c.status().last_error_text, "use replicas=2 in every client"));
        bool const refused = co_await eventually([&] { return c.status().state == node_state::down; });
        BOOST_TEST(refused, "at the handshake as well");
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
