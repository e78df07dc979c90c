// Locks with tokens over real servers: the tokens grow, keys that are missing come back, and nobody counts who should not.
#include "support/cluster.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace redlock::testing {
namespace {

constexpr lock_options steady{.ttl = 3s, .extend_interval = 300ms};
constexpr lock_options plain{.ttl = 20s, .fencing = false};

std::uint64_t wall_clock() { return static_cast<std::uint64_t>(std::chrono::system_clock::now().time_since_epoch() / 1us); }

// Two answers may decide before the third is there.
std::ptrdiff_t nodes_that_say(attempt_report const& report, errc why, std::string const& part)
{
    return std::count_if(report.nodes.begin(), report.nodes.end(),
                         [&](node_verdict const& v) { return v.error == why && v.detail.find(part) != std::string::npos; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fenced_locks)

BOOST_FIXTURE_TEST_CASE(tokens_grow_from_lease_to_lease, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        std::uint64_t last = 0;
        for (int i = 0; i < 50; ++i) {
            lease held = co_await resource.acquire();
            BOOST_REQUIRE_GT(held.token(), last);
            last = held.token();
            co_await held.release();
        }
        // Nothing speaks against the wall clock as the floor, so the nodes agree at once.
        BOOST_TEST(last > wall_clock() - 60'000'000);
        BOOST_TEST(last < wall_clock() + 60'000'000);
        BOOST_TEST(nodes.status().counters.confirmations == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(tokens_grow_across_clients, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        std::uint64_t last = 0;
        for (int i = 0; i < 10; ++i) {
            for (redlock::client* const c : {&nodes, other.get()}) {
                lock const resource{*c, "r", long_ttl};
                lease held = co_await resource.acquire();
                BOOST_REQUIRE_GT(held.token(), last);
                last = held.token();
                co_await held.release();
            }
        }
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(without_fencing_there_is_no_token_and_nothing_else_on_the_nodes, three_nodes)
{
    on_all({"FLUSHALL"});
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", plain};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.token() == 0u);
        BOOST_TEST(!held.next_token());
        auto [ec] = co_await held.extend(asio::as_tuple);
        BOOST_TEST(!ec);
        co_await held.release();
        co_await nodes.drain();
        for (auto const& server : servers) BOOST_TEST(server.command({"DBSIZE"}) == "0");
    });
}

BOOST_FIXTURE_TEST_CASE(both_kinds_exclude_each_other, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const fenced{nodes, "r", long_ttl};
        lock const unfenced{nodes, "r", plain};
        lease held = co_await fenced.acquire();
        auto [refused, nothing] = co_await unfenced.try_acquire(asio::as_tuple);
        BOOST_TEST(refused == errc::contended);
        co_await held.release();
        co_await nodes.drain();
        lease other = co_await unfenced.acquire();
        auto [refused_too, nothing_too] = co_await fenced.try_acquire(asio::as_tuple);
        BOOST_TEST(refused_too == errc::contended);
        co_await other.release();
    });
}

BOOST_FIXTURE_TEST_CASE(a_block_of_tokens_is_ours_alone, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 20s, .token_block = 5}};
        std::set<std::uint64_t> seen;
        for (int i = 0; i < 4; ++i) {
            lease held = co_await resource.acquire();
            std::size_t count = 0;
            do {
                BOOST_TEST((seen.empty() || held.token() > *seen.rbegin()));
                seen.insert(held.token());
                ++count;
            } while (held.next_token());
            BOOST_TEST(count == 5u);
            BOOST_TEST(held.token() == *seen.rbegin(), "it stays at the last one");
            co_await held.release();
        }
        BOOST_TEST(seen.size() == 20u);
    });
}

BOOST_FIXTURE_TEST_CASE(counters_that_differ_need_a_second_round, three_nodes)
{
    auto const an_hour_ahead = wall_clock() + 3'600'000'000u;
    auto const far = std::to_string(an_hour_ahead);
    auto const farther = std::to_string(an_hour_ahead + 7);
    run([&]() -> asio::awaitable<void> {
        servers[0].command({"SET", "r:fence", far, "PX", "600000"});
        servers[0].command({"SET", "redlock:hw", far});
        servers[1].command({"SET", "r:fence", farther, "PX", "600000"});
        servers[1].command({"SET", "redlock:hw", farther});
        lock const resource{nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.valid());
        BOOST_TEST(held.token() > std::stoull(far), held.token() << " " << far);
        BOOST_TEST(nodes.status().counters.confirmations == 1u);
        co_await held.release();
        // The client follows the fastest clock that it has seen: the nodes agree again.
        lease again = co_await resource.acquire();
        BOOST_TEST(again.token() > held.token());
        BOOST_TEST(nodes.status().counters.confirmations == 1u);
        co_await again.release();
    });
}

BOOST_FIXTURE_TEST_CASE(keys_that_were_deleted_come_back, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", steady};
        lease held = co_await resource.acquire();
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        BOOST_TEST(held.faults_tolerated() == 1u);
        on_all({"DEL", "r"});
        bool const back = co_await eventually([&] { return servers_with("r") == 3; });
        BOOST_TEST(back);
        BOOST_TEST(held.valid());
        bool const told = co_await eventually([&] { return nodes.status().counters.recreated == 3u; });
        BOOST_TEST(told);
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(a_key_does_not_come_back_when_somebody_had_the_lock_meanwhile, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client();
        bool const asks_all = co_await eventually([&] {  // a node that the other does not ask would take our key back
            auto const seen = other->status().nodes;
            return std::ranges::all_of(seen, [](node_status const& n) { return n.admission == admission_state::admitted; });
        });
        BOOST_TEST_REQUIRE(asks_all);
        lock const resource{nodes, "r", {.ttl = 10s, .extend_interval = 1s}};
        lease held = co_await resource.acquire();
        on_all({"DEL", "r"});
        lock const theirs{*other, "r", long_ttl};
        lease second = co_await theirs.acquire();
        BOOST_TEST(second.token() > held.token());
        co_await second.release();
        co_await other->drain();
        auto [why] = co_await held.wait_lost(asio::as_tuple);
        BOOST_TEST(why == errc::lease_lost);
        BOOST_TEST(servers_with("r") == 0u);
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(a_node_that_had_no_key_of_ours_gets_one, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[2].command({"SET", "r", "somebody else's", "PX", "400"});
        lock const resource{nodes, "r", {.ttl = 20s, .extend_interval = 4s}};
        stopwatch watch;
        lease held = co_await resource.acquire();
        BOOST_TEST(held.nodes_held() == 2u);
        BOOST_TEST(held.faults_tolerated() == 0u);
        bool const everywhere = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(everywhere);
        BOOST_TEST(watch.ms() < 3'500, "before the next extension was due");
        BOOST_TEST(held.faults_tolerated() == 1u);
        co_await held.release();
    });
}

BOOST_FIXTURE_TEST_CASE(counters_go_after_their_retention_and_tokens_grow_on, three_nodes)
{
    auto settings = quick_config();
    settings.max_ttl = 250ms;
    settings.token_retention = 1s;
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client(settings);
        lock const resource{*other, "r", {.ttl = 250ms}};
        std::uint64_t first = 0;
        {
            lease held = co_await resource.acquire();
            first = held.token();
            co_await pause(1'500ms);
            BOOST_TEST(held.valid());
            BOOST_TEST(servers_with("r:fence") == 3u, "a lease that lives keeps its counter");
            co_await held.release();
        }
        bool const gone = co_await eventually([&] { return servers_with("r:fence") == 0; });
        BOOST_TEST(gone);
        for (auto const& server : servers)
            BOOST_TEST(server.command({"DBSIZE"}) == "3", "the node's record, the high-water mark, and the set's record");
        lease held = co_await resource.acquire();
        BOOST_TEST(held.token() > first);
        co_await held.release();
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(somebody_elses_data_where_the_counter_should_be, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        on_all({"SET", "r:fence", "a poem"});
        lock const resource{nodes, "r", impatient};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(nodes_that_say(report, errc::unexpected_reply, "NAME:fence") >= 2);
        BOOST_TEST(value(0, "r:fence") == "a poem");
        on_all({"DEL", "r:fence"});
    });
}

BOOST_FIXTURE_TEST_CASE(a_ttl_that_the_nodes_do_not_allow_ends_the_attempts_at_once, three_nodes)
{
    auto settings = quick_config();
    settings.max_ttl = 120s;
    settings.token_retention = 1h;
    run([&]() -> asio::awaitable<void> {
        auto const other = another_client(settings);
        lock const resource{*other, "r", {.ttl = 90s}};
        attempt_report report;
        auto [ec, nothing] = co_await resource.acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::ttl_too_long);
        BOOST_TEST(ec == condition::not_acquired);
        BOOST_TEST(nodes_that_say(report, errc::ttl_too_long, "this node allows up to 60000 ms") >= 2);
        other->cancel();
    });
}

BOOST_FIXTURE_TEST_CASE(locks_that_cannot_be, three_nodes)
{
    using invalid = std::invalid_argument;
    BOOST_CHECK_EXCEPTION(lock(nodes, "r", {.ttl = 61s}), invalid, [](invalid const& e) {
        return std::string{e.what()} == "lock_options::ttl is 61 s; with fencing it must not be above config::max_ttl, which is 1 min";
    });
    BOOST_CHECK_NO_THROW(lock(nodes, "r", {.ttl = 61s, .fencing = false}));
    for (auto const* name : {"redlock:node", "redlock:hw", "redlock:set", "redlock:wait", "r:fence", ":fence"})
        BOOST_CHECK_EXCEPTION(lock(nodes, name), invalid,
                              [&](invalid const& e) { return std::string{e.what()}.find(name) != std::string::npos; });
    BOOST_CHECK_THROW(lock(nodes, "r", {.token_block = 0}), invalid);
    run([&]() -> asio::awaitable<void> { co_return; });
}

BOOST_FIXTURE_TEST_CASE(scripts_that_a_server_forgot_are_loaded_again, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        for (int i = 0; i < 3; ++i) {
            on_all({"SCRIPT", "FLUSH"});
            lease held = co_await resource.acquire();
            BOOST_TEST(held.token() > 0u);
            on_all({"SCRIPT", "FLUSH"});
            auto [ec] = co_await held.extend(asio::as_tuple);
            BOOST_TEST(!ec);
            on_all({"SCRIPT", "FLUSH"});
            co_await held.release();
            // By all nodes: one that has to be asked twice must not lose its scripts in between once more.
            co_await nodes.drain();
        }
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
