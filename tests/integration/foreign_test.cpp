// Keys that belong to somebody else: other libraries, other types, no expiry. They are respected, and never deleted.
#include "support/cluster.hpp"

#include <algorithm>
#include <string>

namespace redlock::testing {
namespace {

constexpr lock_options steady_beside_others{.ttl = 3s, .extend_interval = 500ms};

// All that a value must not be mistaken for: the end of a string, the end of a protocol line, a number, a script's argument.
std::string awkward_value()
{
    std::string text{"*1\r\n$4\r\nPING\r\n", 14};
    text.push_back('\0');
    text += "\xff\xfe line\nline\r\n:1\r\n";
    for (int i = 0; i < 256; ++i) text.push_back(static_cast<char>(i));
    text.append(200'000, '\n');
    return text;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(foreign)

BOOST_FIXTURE_TEST_CASE(a_hash_of_another_library_means_contended, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        on_all({"HSET", "r", "8a2f:17", "1"});
        lock const resource{nodes, "r", {.ttl = 20s, .node_timeout = 5s}};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::contended);
        auto const refusals = std::count_if(report.nodes.begin(), report.nodes.end(),
                                            [](node_verdict const& v) { return v.vote == vote::refused; });
        BOOST_TEST(refusals >= 2, verdicts(report));
        for (auto const& verdict : report.nodes) {
            BOOST_TEST(verdict.vote != vote::failed, verdict.node);
            BOOST_TEST(!verdict.error, verdict.node);
        }
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"HGETALL", "r"}) == "8a2f:17\n1");
        on_all({"DEL", "r"});
    });
}

BOOST_FIXTURE_TEST_CASE(a_hash_on_one_node_is_a_refusal_of_that_node, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].command({"HSET", "r", "8a2f:17", "1"});
        servers[1].stop();
        lock const resource{nodes, "r", impatient};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "refused node_timeout granted");
        servers[1].resume();
        co_await nodes.drain();
        BOOST_TEST(servers[0].command({"HGET", "r", "8a2f:17"}) == "1");
        servers[0].command({"DEL", "r"});
    });
}

BOOST_FIXTURE_TEST_CASE(a_key_that_becomes_a_hash_is_gone, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", steady_beside_others};
        lock const beside{nodes, "beside", steady_beside_others};
        lease held = co_await resource.acquire();
        lease untouched = co_await beside.acquire();
        on_all({"DEL", "r"});
        on_all({"HSET", "r", "8a2f:17", "1"});
        stopwatch watch;
        auto [why] = co_await held.wait_lost(asio::as_tuple);
        BOOST_TEST(why == errc::lease_lost);
        BOOST_TEST(watch.ms() < 1'500);
        BOOST_TEST(untouched.valid(), "a lease in the same script call");
        BOOST_TEST(nodes.status().counters.extensions_lost == 1u);
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(released == errc::lease_lost);
        co_await untouched.release();
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"HGETALL", "r"}) == "8a2f:17\n1");
        on_all({"DEL", "r"});
    });
}

BOOST_FIXTURE_TEST_CASE(a_release_notices_that_the_key_became_a_hash, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 20s, .auto_extend = false}};
        lease held = co_await resource.acquire();
        co_await nodes.drain();
        on_all({"DEL", "r"});
        on_all({"HSET", "r", "8a2f:17", "1"});
        auto [released] = co_await held.release(asio::as_tuple);
        BOOST_TEST(released == errc::lease_lost);
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"HLEN", "r"}) == "1");
        on_all({"DEL", "r"});
    });
}

BOOST_FIXTURE_TEST_CASE(a_long_binary_value_without_expiry_is_refused_and_kept, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        std::string const theirs = awkward_value();
        on_all({"SET", "r", theirs});
        lock const resource{nodes, "r", {.ttl = 1s, .node_timeout = 500ms, .acquire_timeout = 1500ms, .max_retry_delay = 50ms}};
        attempt_report report;
        auto [ec, nothing] = co_await resource.acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::acquire_timed_out);
        BOOST_TEST(report.outcome == errc::contended);
        BOOST_TEST(report.attempts >= 1u);
        co_await nodes.drain();
        for (std::size_t i = 0; i < 3; ++i) {
            BOOST_TEST((value(i, "r") == theirs));
            BOOST_TEST(ttl_left(i, "r").count() == -1);
        }
        on_all({"DEL", "r"});
    });
}

// Resource names are bytes as well: what is locked is exactly the key of that name.
BOOST_FIXTURE_TEST_CASE(a_name_is_any_sequence_of_bytes, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        std::string const name = "f\xc3\xbc"
                                 "r {alle}\r\n" +
                                 std::string(1, '\0') + "*$:" + std::string(10'000, 'x');
        lock const resource{nodes, name, long_ttl};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return servers_with(name) == 3; });
        BOOST_TEST(everywhere);
        BOOST_TEST((held.name() == name));
        co_await held.extend();
        co_await held.release();
        co_await nodes.drain();
        BOOST_TEST(servers_with(name) == 0u);
    });
}

// The wire format is the common one: a foreign client that uses SET NX PX and compare-and-delete shares the lock.
BOOST_FIXTURE_TEST_CASE(a_foreign_holder_that_gives_the_lock_back, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        on_all({"SET", "r", "foreign", "NX", "PX", "20000"});
        lock const resource{nodes, "r", {.ttl = 20s, .max_retry_delay = 50ms}};
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::contended);
        std::string const their_release = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end";
        on_all({"EVAL", their_release, "1", "r", "foreign"});
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        for (auto const& server : servers) BOOST_TEST(server.command({"SET", "r", "foreign", "NX", "PX", "20000"}) == "(nil)");
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
