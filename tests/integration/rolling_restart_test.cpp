// Leases that outlive restarts of real servers, one after the other, and attempts of others that fail.
#include "support/cluster.hpp"

#include "protocol/fence_keys.hpp"
#include "protocol/keys.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

namespace redlock::testing {
namespace {

constexpr auto longest_ttl = 2s;  // of this client's locks, and so what a restarted node waits for

constexpr lock_options extended_often{.ttl = longest_ttl, .node_timeout = 400ms, .extend_interval = 200ms};
constexpr lock_options brief{.ttl = 1s, .node_timeout = 400ms, .max_retry_delay = 50ms};

config with_short_quarantine()
{
    config c = quick_config();
    c.max_ttl = longest_ttl;
    c.bootstrap = true;
    return c;
}

struct restarted_nodes : cluster {
    explicit restarted_nodes(std::size_t size, bool persistent = false)
        : cluster{size, with_short_quarantine(), {.appendonly = persistent}, beginning::empty}
    {
    }

    bool are_all_admitted() const
    {
        auto const all = nodes.status().nodes;
        return std::all_of(all.begin(), all.end(), [](node_status const& n) { return n.admission == admission_state::admitted; });
    }

    asio::awaitable<void> wait_until_all_are_admitted()
    {
        bool const all = co_await eventually([&] { return are_all_admitted(); });
        BOOST_TEST_REQUIRE(all);
    }

    // Makes a token above that of the lease under test, so that a node that is admitted later has a base above it.
    asio::awaitable<void> acquire_something_else()
    {
        lock const other{nodes, "other", brief};
        lease held = co_await other.acquire();
        co_await held.release();
    }

    std::string record_of(std::size_t node) const { return servers[node].command({"GET", std::string{detail::node_record_key}}); }

    std::uint64_t base_of(std::size_t node) const
    {
        auto const record = record_of(node);
        if (record.size() <= detail::record_base_at + detail::record_base_size) return 0;
        return std::stoull(record.substr(detail::record_base_at, detail::record_base_size));
    }

    // The scope that begins before the first restart ends when all nodes were restarted.
    void outlive_restarts_of_all_nodes()
    {
        run([&]() -> asio::awaitable<void> {
            co_await acquire_something_else();
            co_await wait_until_all_are_admitted();
            lock lasting{nodes, "lasting", extended_often};
            auto body = [&](lease& held) -> asio::awaitable<void> {
                auto const token = held.token();
                for (std::size_t i = 0; i < servers.size(); ++i) {
                    auto const record = record_of(i);
                    co_await acquire_something_else();
                    servers[i].restart();
                    // The status may be of before the restart: a new base shows that the node was admitted again.
                    bool const admitted = co_await eventually([&] { return base_of(i) > token && are_all_admitted(); });
                    BOOST_TEST_REQUIRE(admitted);
                    BOOST_TEST(record_of(i) != record);
                    // What the lease knows of this server may be of before the restart, too.
                    bool const on_all = co_await eventually(
                        [&] { return held.nodes_held() == servers.size() && servers_with("lasting") == servers.size(); });
                    BOOST_TEST_REQUIRE(on_all);
                    BOOST_TEST(held.token() == token);
                    BOOST_TEST(held.valid());
                }
            };
            co_await with_lock(lasting, body);  // throws if the lease was lost
            BOOST_TEST(nodes.status().counters.leases_lost == 0u);
            BOOST_TEST(nodes.status().counters.recreated >= servers.size());
        });
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(rolling_restarts)

BOOST_AUTO_TEST_CASE(a_scope_outlives_restarts_of_three_nodes_that_forget)
{
    restarted_nodes c{3};
    c.outlive_restarts_of_all_nodes();
}

BOOST_AUTO_TEST_CASE(a_scope_outlives_restarts_of_three_nodes_that_remember)
{
    restarted_nodes c{3, true};
    c.outlive_restarts_of_all_nodes();
}

BOOST_AUTO_TEST_CASE(a_scope_outlives_restarts_of_five_nodes_that_forget)
{
    restarted_nodes c{5};
    c.outlive_restarts_of_all_nodes();
}

BOOST_AUTO_TEST_CASE(a_scope_outlives_restarts_of_five_nodes_that_remember)
{
    restarted_nodes c{5, true};
    c.outlive_restarts_of_all_nodes();
}

BOOST_FIXTURE_TEST_CASE(a_lease_gets_back_onto_a_node_where_an_attempt_of_somebody_else_failed, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        constexpr lock_options steady{.ttl = 10s, .node_timeout = 400ms, .extend_interval = 200ms};
        lock const resource{nodes, "r", steady};
        lease held = co_await resource.acquire();
        auto const token = held.token();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST_REQUIRE(everywhere);
        // Deletes the key until the rival's attempt misses it before an extension sets it again, which leaves a larger counter.
        lock const rival{*other, "r", {.ttl = 10s, .node_timeout = 400ms}};
        bool overtaken = false;
        for (int i = 0; i < 200 && !overtaken; ++i) {
            servers[2].command({"DEL", "r"});
            auto [ec, nothing] = co_await rival.try_acquire(asio::as_tuple);
            BOOST_TEST_REQUIRE((ec == condition::contended));
            overtaken = std::stoull(servers[2].command({"GET", "r:fence"})) > token + steady.max_handoffs;
        }
        BOOST_TEST_REQUIRE(overtaken);
        bool const back = co_await eventually([&] { return held.nodes_held() == 3 && value(2, "r") == value(0, "r"); });
        BOOST_TEST(back);
        BOOST_TEST(held.token() == token);
        co_await held.release();
        lease next = co_await rival.acquire();
        BOOST_TEST(next.token() > token);
        co_await next.release();
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(a_plain_lease_stays_where_it_is, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        constexpr lock_options plain{.ttl = 2s, .fencing = false, .node_timeout = 400ms, .extend_interval = 200ms};
        lock const resource{nodes, "r", plain};
        lease held = co_await resource.acquire();
        servers[0].restart();
        bool const two = co_await eventually([&] { return held.nodes_held() == 2; });
        BOOST_TEST(two);
        BOOST_TEST(held.valid());
        BOOST_TEST(value(0, "r") == "(nil)", "nobody sets it again");
        servers[1].restart();
        bool const lost = co_await eventually([&] { return !held.valid(); });
        BOOST_TEST(lost);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
