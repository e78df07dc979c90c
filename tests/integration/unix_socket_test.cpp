// Nodes on Unix domain sockets, where the library was built with a Boost that has them.
#include "support/one_client.hpp"

#include <boost/version.hpp>

namespace redlock::testing {
namespace {

BOOST_AUTO_TEST_SUITE(unix_sockets)

#if BOOST_VERSION < 108900

BOOST_AUTO_TEST_CASE(a_client_cannot_be_made)
{
    asio::io_context io;
    auto const is_clear = [](config_error const& error) {
        return std::string{error.what()}.find("unix sockets need a library built with Boost 1.89 or newer") != std::string::npos;
    };
    config settings;
    settings.nodes = {node_address::from_url("unix:///run/redis.sock")};
    BOOST_CHECK_EXCEPTION((redlock::client{io.get_executor(), settings}), config_error, is_clear);
}

#else

// Relative to the folder of each server, which is where it runs.
way_to over_socket(std::string const& more = "")
{
    return
        [more](redis_server const& server) { return node_address::from_url("unix://" + (server.folder() / "redis.sock").string() + more); };
}

BOOST_AUTO_TEST_CASE(locks_on_three_nodes)
{
    cluster_reached c{3, {.arguments = {"--unixsocket", "redis.sock"}}, over_socket()};
    c.run([&]() -> asio::awaitable<void> {
        auto locking = c.lock_everywhere();
        co_await std::move(locking);
        auto const list = c.servers[0].command({"CLIENT", "LIST"});
        BOOST_TEST(list.find("redis.sock:0") != std::string::npos, list);
        BOOST_TEST(c.first().node == "unix:" + (c.servers[0].folder() / "redis.sock").string());
        c.servers[0].command({"CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"});
        auto coming = eventually([&] { return c.first().connects == 2 && c.usable() == 3; });
        bool const came = co_await std::move(coming);
        BOOST_TEST(came);
    });
}

BOOST_AUTO_TEST_CASE(nobody_listens)
{
    cluster_reached{1, {}, over_socket()}.expect_failure(errc::node_unreachable, "No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_wrong_password)
{
    cluster_reached{1,
                    {.arguments = {"--unixsocket", "redis.sock"}, .requirepass = "right"},
                    [](redis_server const& server) {
                        return node_address::from_url("unix://default:wrong@" + (server.folder() / "redis.sock").string());
                    }}
        .expect_failure(errc::handshake_refused, "wrong user name or password");
}

#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace redlock::testing
