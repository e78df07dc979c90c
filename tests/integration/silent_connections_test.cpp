// Connections that go silent and stay open, where new ones would work.
#include "support/cluster.hpp"
#include "support/tcp_proxy.hpp"

#include <string>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(silent_connections)

// All defaults that matter: ttl, stall_timeout and the pauses. The worst moment is the one after an extension.
BOOST_AUTO_TEST_CASE(a_lease_outlives_a_firewall_that_forgets_all_connections_at_once)
{
    cluster c{3};
    tcp_proxy way{{c.servers[0].port(), c.servers[1].port(), c.servers[2].port()}};
    config settings;
    for (auto const port : way.ports()) settings.nodes.push_back(node_address::from_url("redis://127.0.0.1:" + std::to_string(port)));
    c.nodes = redlock::client{c.io.get_executor(), settings};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", {.fencing = false}};
        lease held = co_await resource.acquire();
        for (std::size_t node : {0u, 1u, 2u}) way.forget(node);
        co_await pause(10s);
        BOOST_TEST(held.valid());
        for (auto const& node : c.nodes.status().nodes) {
            BOOST_TEST(node.connects == 2u);
            BOOST_TEST((node.state == node_state::usable));
        }
        co_await held.release();
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
