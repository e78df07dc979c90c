// Votes that count only when they are on disk (WAITAOF): what servers can do that, and what is said by those that cannot.
#include "support/command_stats.hpp"
#include "support/replicated.hpp"
#include "support/skipped.hpp"

#include <memory>
#include <string>

namespace redlock::testing {
namespace {

bool has_waitaof()
{
    redis_server const probe;
    return !probe.ask({"WAITAOF", "0", "0", "1"}).is_error();
}

#ifdef REDLOCK_VALKEY_SERVER
// The server under test, or Valkey in place of one that is too old.
std::string const& with_waitaof()
{
    static std::string const program = has_waitaof() ? default_server() : REDLOCK_VALKEY_SERVER;
    return program;
}

redis_server_options with_file(std::string const& appendfsync)
{
    return {.binary = with_waitaof(), .arguments = {"--appendfsync", appendfsync}, .requirepass = {}, .appendonly = true};
}
#endif

}  // namespace

BOOST_AUTO_TEST_SUITE(fsync)

BOOST_AUTO_TEST_CASE(a_server_without_waitaof_is_no_node)
{
    if (has_waitaof()) {
        skipped("the redis-server here has WAITAOF");
        return;
    }
    replicated c{"?fsync=yes", 0};
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        bool const known = co_await eventually([&] { return c.status().last_error == errc::node_unsuitable; });
        BOOST_TEST(known);
        BOOST_TEST(mentions(c.status().last_error_text, "fsync needs WAITAOF, which Redis has since 7.2"), c.status().last_error_text);
        BOOST_TEST(c.status().connects == 0u);
    });
}

#ifdef REDLOCK_VALKEY_SERVER

BOOST_AUTO_TEST_CASE(a_server_without_a_file_is_no_node)
{
    replicated c{"?fsync=yes", 0, quick_config(), {.binary = with_waitaof()}};
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        bool const known = co_await eventually([&] { return c.status().last_error == errc::node_unsuitable; });
        BOOST_TEST(known);
        BOOST_TEST(mentions(c.status().last_error_text, "set appendonly yes"), c.status().last_error_text);
    });
}

BOOST_AUTO_TEST_CASE(a_vote_counts_when_it_is_on_disk)
{
    for (std::string const policy : {"always", "everysec"}) {
        config settings = quick_config();
        settings.replication_timeout = 3s;  // what everysec may take
        replicated c{"?fsync=yes", 0, settings, with_file(policy)};
        c.run([&]() -> asio::awaitable<void> {
            auto const before = calls_of(c.primary(), "waitaof");
            lock const resource{c.nodes, "r", plain};
            lease held = co_await resource.acquire();
            BOOST_TEST(calls_of(c.primary(), "waitaof") == before + 1);
            co_await held.extend();
            BOOST_TEST(held.valid());
        });
    }
}

BOOST_AUTO_TEST_CASE(a_server_that_leaves_it_to_the_system_is_too_slow)
{
    replicated c{"?fsync=yes", 0, quick_config(), with_file("no")};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", plain};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "not_durable");
        BOOST_TEST(report.nodes[0].detail == "the server has not written it to its disk within 200 ms");
    });
}

// A replica's own file is written by nobody else: one that has none never acknowledges.
BOOST_AUTO_TEST_CASE(the_disks_of_replicas_count_as_well)
{
    config settings = quick_config();
    settings.replication_timeout = 3s;  // a replica says once a second what is on its disk
    replicated c{"?fsync=yes&replicas=1", 1, settings, with_file("always")};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", plain};
        lease held = co_await resource.acquire();
        BOOST_TEST(c.replicas[0].command({"EXISTS", "r"}) == "1");
        c.replicas[0].command({"CONFIG", "SET", "appendonly", "no"});
        auto [ec] = co_await held.extend(asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
    });
}

// WAIT counts what its own connection has written, also on servers that came after Redis 7.0.
BOOST_AUTO_TEST_CASE(replicas_of_a_server_with_waitaof)
{
    replicated c{"?replicas=2", 2, quick_config(), {.binary = with_waitaof()}};
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "r", plain};
        lease held = co_await resource.acquire();
        for (auto const& replica : c.replicas) BOOST_TEST(replica.command({"EXISTS", "r"}) == "1");
        co_await held.release();
        c.replicas[1].stop();
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(report.nodes[0].detail == "1 of 2 replicas acknowledged within 200 ms");
        c.replicas[1].resume();
    });
}

#else

BOOST_AUTO_TEST_CASE(valkey) { skipped("there is no valkey-server here, so WAITAOF is not tried (on Debian: cmake/setup.sh valkey)"); }

#endif

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
