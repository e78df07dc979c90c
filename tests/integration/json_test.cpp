// From a configuration file to a lease.
#include "support/cluster.hpp"

#include "support/temporary_folder.hpp"

#include <redlock/json.hpp>

#include <fstream>
#include <string>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(json)

BOOST_AUTO_TEST_CASE(a_configuration_file_is_all_that_is_needed)
{
    cluster c{3, quick_config(), {.requirepass = "open sesame"}};
    temporary_folder const folder;
    auto const file = folder.path() / "redlock.json";
    auto const port = [&](std::size_t i) { return std::to_string(c.servers[i].port()); };
    std::ofstream{file} << R"({
      "nodes": ["redis://default:open%20sesame@127.0.0.1:)" +
                               port(0) + R"(",  // as a URL, and as an object
                {"host": "127.0.0.1", "port": )" +
                               port(1) + R"(, "password": "open sesame"},
                {"host": "localhost", "port": )" +
                               port(2) + R"(, "username": "default", "password": "open sesame"}],
      "client_name": "billing",
      "min_reconnect_delay_ms": 10,
      "lock": {"ttl_ms": 5000, "max_retry_delay_ms": 20, "acquire_timeout_ms": 200}
    })";
    settings const loaded = load_settings(file);
    redlock::client client{c.io.get_executor(), loaded.client};
    c.run([&]() -> asio::awaitable<void> {
        c.start(client);
        lock const resource{client, "r", loaded.lock};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        auto const left = c.ttl_left(0, "r");
        BOOST_TEST((left > 3s && left <= 5s), left.count() << " ms left");
        BOOST_TEST(c.servers[1].command({"CLIENT", "LIST"}).find("name=billing") != std::string::npos);

        auto [ec, nothing] = co_await resource.acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::acquire_timed_out);
        co_await held.release();
        client.cancel();
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
