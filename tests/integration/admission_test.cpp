// Which real servers may vote: new ones, restarted ones, replicas, servers that keep to themselves which one they are.
#include "support/cluster.hpp"
#include "support/mentions.hpp"

#include <algorithm>
#include <string>

namespace redlock::testing {
namespace {

constexpr auto drain = 1s;

// A node that lost its memory waits for a second (and a hundredth, and 2 ms) only.
config with_short_drain(bool bootstrap = false, std::chrono::milliseconds for_so_long = drain, majority_loss then = majority_loss::recover)
{
    config c = quick_config();
    c.max_ttl = for_so_long;
    c.bootstrap = bootstrap;
    c.after_majority_loss = then;
    return c;
}

constexpr lock_options brief{.ttl = 1s, .node_timeout = 400ms, .max_retry_delay = 50ms};

struct empty_nodes : cluster {
    explicit empty_nodes(std::size_t size = 3, bool bootstrap = false, std::chrono::milliseconds for_so_long = drain,
                         majority_loss then = majority_loss::recover)
        : cluster{size, with_short_drain(bootstrap, for_so_long, then), {}, beginning::empty}
    {
    }

    admission_state of(std::size_t node) const { return nodes.status().nodes[node].admission; }
    std::string text(std::size_t node) const { return nodes.status().nodes[node].admission_text; }

    std::size_t admitted() const
    {
        auto const all = nodes.status().nodes;
        return static_cast<std::size_t>(
            std::count_if(all.begin(), all.end(), [](node_status const& n) { return n.admission == admission_state::admitted; }));
    }
};

struct admitted_nodes : empty_nodes {
    explicit admitted_nodes(std::chrono::milliseconds for_so_long = drain, majority_loss then = majority_loss::recover)
        : empty_nodes{3, true, for_so_long, then}
    {
    }

    // All nodes of a new cluster are admitted.
    asio::awaitable<void> begin()
    {
        lock const first{nodes, "first", brief};
        lease held = co_await first.acquire();
        co_await held.release();
        bool const all = co_await eventually([&] { return admitted() == 3; });
        BOOST_TEST_REQUIRE(all);
    }
};

struct nodes_with_an_operator : admitted_nodes {
    nodes_with_an_operator() : admitted_nodes{drain, majority_loss::wait_for_operator} {}
};

// Long enough that a lease outlives a node that is stopped for a moment, on a machine that has other things to do.
struct patient_nodes : admitted_nodes {
    patient_nodes() : admitted_nodes{3s} {}
};

}  // namespace

BOOST_AUTO_TEST_SUITE(admission)

BOOST_FIXTURE_TEST_CASE(new_nodes_wait_for_the_longest_ttl, empty_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", brief};
        stopwatch watch;
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        // The first two say so, and that decides.
        auto const told = std::count_if(report.nodes.begin(), report.nodes.end(), [](node_verdict const& v) {
            return v.error == errc::node_not_admitted && mentions(v.detail, "left until earlier leases have expired");
        });
        BOOST_TEST(told >= 2, verdicts(report));
        bool const all_drain = co_await eventually(
            [&] { return of(0) == admission_state::quarantined && of(2) == admission_state::quarantined; });
        BOOST_TEST(all_drain);

        lease held = co_await resource.acquire();
        BOOST_TEST(watch.ms() >= 1'000);
        BOOST_TEST(held.token() > 0u);
        bool const all = co_await eventually([&] { return admitted() == 3; });
        BOOST_TEST(all);
        BOOST_TEST(text(0).empty());
        co_await held.release();
    });
}

BOOST_AUTO_TEST_CASE(new_nodes_that_are_said_to_be_fresh_do_not_wait)
{
    empty_nodes c{3, true};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", brief};
        stopwatch watch;
        auto [ec, held] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(!ec);
        BOOST_TEST(watch.ms() < 900);
        co_await held.release();
    });
}

BOOST_AUTO_TEST_CASE(clients_that_start_together_found_a_cluster_together)
{
    empty_nodes c{5, true};
    c.run([&]() -> asio::awaitable<void> {
        auto const second = c.another_client(with_short_drain(true));
        auto const third = c.another_client(with_short_drain(true));
        stopwatch watch;
        std::uint64_t last = 0;
        for (redlock::client* const each : {second.get(), &c.nodes, third.get(), &c.nodes}) {
            lock const resource{*each, "r", brief};
            lease held = co_await resource.acquire();
            BOOST_TEST(held.token() > last);
            last = held.token();
            co_await held.release();
        }
        BOOST_TEST(watch.ms() < 900);
        second->cancel();
        third->cancel();
    });
}

BOOST_AUTO_TEST_CASE(a_single_node)
{
    empty_nodes c{1};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", brief};
        std::uint64_t before = 0;
        {
            lease held = co_await resource.acquire();
            before = held.token();
            co_await held.release();
        }
        c.servers[0].restart();
        stopwatch watch;
        lease held = co_await resource.acquire();
        BOOST_TEST(watch.ms() >= 1'000, "it could have forgotten a lease");
        BOOST_TEST(held.token() > before);
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(a_node_that_is_restarted_empty_waits_and_catches_up, patient_nodes)
{
    run([&]() -> asio::awaitable<void> {
        co_await begin();
        constexpr lock_options long_one{.ttl = 3s, .extend_interval = 200ms};
        lock const resource{nodes, "r", long_one};
        lease held = co_await resource.acquire();
        servers[1].restart();
        bool const drains = co_await eventually([&] { return of(1) == admission_state::quarantined; });
        BOOST_TEST(drains);
        BOOST_TEST(mentions(text(1), "lost its data"), text(1));

        // It has no vote: with another node stopped there is no majority.
        servers[2].stop();
        lock const other{nodes, "other", brief};
        attempt_report report;
        auto [ec, nothing] = co_await other.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "granted node_not_admitted node_timeout");
        servers[2].resume();

        bool const back = co_await eventually([&] { return of(1) == admission_state::admitted; });
        BOOST_TEST(back);
        BOOST_TEST(held.valid(), "the lease stood on the other two");
        auto const token = held.token();
        bool const on_all = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(on_all, "the node begins above all tokens that it may have forgotten, so above this one; the lease climbs");
        BOOST_TEST(held.token() == token);
        BOOST_TEST(std::stoull(value(1, "redlock:hw")) >= held.token());
        lock const later{nodes, "later", long_one};
        lease next = co_await later.acquire();
        bool const everywhere = co_await eventually([&] { return next.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        BOOST_TEST(next.token() > held.token());
        co_await next.release();
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(flushall_is_noticed_on_a_connection_that_lasts, admitted_nodes)
{
    run([&]() -> asio::awaitable<void> {
        co_await begin();
        servers[0].command({"FLUSHALL"});
        lock const resource{nodes, "r", brief};
        attempt_report report;
        auto [ec, held] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(!ec);
        bool const noticed = co_await eventually([&] { return of(0) == admission_state::quarantined; });
        BOOST_TEST(noticed);
        BOOST_TEST(nodes.status().nodes[0].connects == 1u);
        bool const back = co_await eventually([&] { return of(0) == admission_state::admitted; });
        BOOST_TEST(back);
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(a_node_that_was_a_replica_in_between_is_noticed_on_one_connection, admitted_nodes)
{
    redis_server elsewhere{{.arguments = {"--repl-diskless-sync-delay", "0"}}};
    run([&]() -> asio::awaitable<void> {
        co_await begin();
        auto const before = replication_id(servers[2]);
        servers[2].command({"REPLICAOF", elsewhere.host(), std::to_string(elsewhere.port())});
        bool const synced = co_await eventually([&] { return servers[2].command({"DBSIZE"}) == "0"; });
        BOOST_TEST(synced);
        servers[2].command({"REPLICAOF", "NO", "ONE"});
        BOOST_TEST(replication_id(servers[2]) != before);
        BOOST_TEST(nodes.status().nodes[2].connects == 1u);

        lock const resource{nodes, "r", brief};
        lease held = co_await resource.acquire();
        bool const noticed = co_await eventually([&] { return of(2) == admission_state::quarantined; });
        BOOST_TEST(noticed);
        BOOST_TEST(nodes.status().nodes[2].connects == 1u);
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(a_replica_has_no_vote_even_if_it_accepts_writes, admitted_nodes)
{
    redis_server elsewhere;
    run([&]() -> asio::awaitable<void> {
        co_await begin();
        auto const record = value(2, "redlock:node");
        servers[2].command({"CONFIG", "SET", "replica-read-only", "no"});
        servers[2].command({"REPLICAOF", elsewhere.host(), std::to_string(elsewhere.port())});
        servers[1].stop();
        lock const resource{nodes, "r", brief};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST((report.nodes[2].vote == vote::failed));
        servers[1].resume();
        // It is left.
        bool const noticed = co_await eventually([&] { return nodes.status().nodes[2].last_error == errc::node_unsuitable; });
        BOOST_TEST(noticed);
        BOOST_TEST(mentions(text(2), "replica"), text(2));
        servers[2].command({"REPLICAOF", "NO", "ONE"});
    });
}

BOOST_FIXTURE_TEST_CASE(after_too_many_losses_nodes_vote_again_with_larger_tokens, admitted_nodes)
{
    run([&]() -> asio::awaitable<void> {
        co_await begin();
        lock const resource{nodes, "r", brief};
        {
            lease before = co_await resource.acquire();
            co_await before.release();
        }
        auto const high_water = std::stoull(value(2, "redlock:hw"));
        servers[0].command({"FLUSHALL"});
        servers[1].command({"FLUSHALL"});
        lease held = co_await resource.acquire();
        BOOST_TEST(held.token() > high_water + 1'000'000, "from the wall clock");
        for (std::size_t node = 0; node < 3; ++node) BOOST_TEST((of(node) == admission_state::admitted));
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(too_many_losses_are_an_operators_where_that_is_wanted, nodes_with_an_operator)
{
    run([&]() -> asio::awaitable<void> {
        co_await begin();
        servers[0].command({"FLUSHALL"});
        servers[1].command({"FLUSHALL"});
        lock const resource{nodes, "r", {.ttl = 1s, .acquire_timeout = 2s, .max_retry_delay = 50ms}};
        auto [ec, nothing] = co_await resource.acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::acquire_timed_out_no_majority);
        BOOST_TEST((of(0) == admission_state::needs_operator));
        BOOST_TEST(mentions(text(0), "2 of 3 nodes restarted, were promoted, or lost their data since they were admitted"), text(0));
        BOOST_TEST(mentions(text(0), "delete the keys redlock:node and redlock:set on every node"), text(0));
        auto const high_water = std::stoull(value(2, "redlock:hw"));

        on_all({"DEL", "redlock:node"});
        lock const patient{nodes, "r", brief};
        lease held = co_await patient.acquire();
        BOOST_TEST(held.token() > high_water);
        co_await held.release();
    });
}

BOOST_AUTO_TEST_CASE(a_server_without_info_that_nobody_has_admitted)
{
    empty_nodes c{3};
    config settings = with_short_drain(true);
    for (auto const& server : c.servers) {
        server.command({"ACL", "SETUSER", "locker", "on", ">s3cr3t", "~*", "+@all", "-info"});
        settings.nodes.push_back(node_address::from_url("redis://locker:s3cr3t@127.0.0.1:" + std::to_string(server.port())));
    }
    c.run([&]() -> asio::awaitable<void> {
        redlock::client blind{c.io.get_executor(), settings};
        c.start(blind);
        bool const up = co_await eventually([&] { return blind.status().nodes[0].admission == admission_state::unidentified; });
        BOOST_TEST(up);
        BOOST_TEST(mentions(blind.status().nodes[0].admission_text, "allow +info"));
        lock const resource{blind, "r", brief};
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);

        for (auto const& server : c.servers) admit(server);
        // With a vote of two, the lease would not outlive what happens to the first.
        bool const all = co_await eventually([&] {
            auto const nodes = blind.status().nodes;
            return std::all_of(nodes.begin(), nodes.end(), [](node_status const& n) { return n.admission == admission_state::admitted; });
        });
        BOOST_TEST(all);
        lease held = co_await resource.acquire();
        BOOST_TEST(held.token() > 0u);
        c.servers[0].command({"FLUSHALL"});  // which the scripts see by themselves
        auto [extended] = co_await held.extend(asio::as_tuple);
        BOOST_TEST(!extended);
        bool const noticed = co_await eventually([&] { return blind.status().nodes[0].admission == admission_state::unidentified; });
        BOOST_TEST(noticed);
        co_await held.release();
        blind.cancel();
    });
}

BOOST_AUTO_TEST_CASE(identity_at_the_handshake_only)
{
    config settings = with_short_drain(true);
    settings.identity = identity_check::handshake;
    cluster c{3, settings, {}, beginning::empty};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", brief};
        lease held = co_await resource.acquire();
        // Admissions ask for INFO as well.
        bool const all_admitted = co_await eventually([&] {
            auto const all = c.nodes.status().nodes;
            return std::all_of(all.begin(), all.end(), [](node_status const& n) { return n.admission == admission_state::admitted; });
        });
        BOOST_TEST_REQUIRE(all_admitted);
        c.on_all({"CONFIG", "RESETSTAT"});
        auto [ec] = co_await held.extend(asio::as_tuple);
        BOOST_TEST(!ec);
        co_await held.release();
        for (auto const& server : c.servers) BOOST_TEST(!mentions(server.command({"INFO", "commandstats"}), "cmdstat_info:calls=1,"));
        c.servers[0].restart();  // a new connection, so it is noticed
        bool const noticed = co_await eventually([&] { return c.nodes.status().nodes[0].admission == admission_state::quarantined; });
        BOOST_TEST(noticed);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
