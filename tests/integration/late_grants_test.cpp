// Answers that come when nobody waits for them any more. The ttl is 20 s, so a key that goes was given back.
#include "support/cluster.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <optional>

namespace redlock::testing {
namespace {

// Nothing of an attempt ends by itself while a test looks.
constexpr lock_options patient{.ttl = 20s, .node_timeout = 10s};

struct outcome {
    error_code ec;
    bool won{false};
    long long after_ms{0};
};

// An acquisition that is under way while the story goes on, and can be cancelled by it.
struct pending_acquisition {
    asio::cancellation_signal signal;
    std::optional<outcome> result;
    lease got;

    void start(lock const& resource)
    {
        resource.acquire(asio::bind_cancellation_slot(signal.slot(), [this, watch = stopwatch{}](error_code ec, lease l) {
            got = std::move(l);
            result = outcome{ec, static_cast<bool>(got), watch.ms()};
        }));
    }
};

}  // namespace

BOOST_AUTO_TEST_SUITE(late_grants)

BOOST_FIXTURE_TEST_CASE(a_node_that_answers_after_the_release, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[1].stop();
        lock const resource{nodes, "r", impatient};
        lease held = co_await resource.acquire();
        co_await held.release();
        servers[1].resume();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
        BOOST_TEST(nodes.status().counters.late_grants_undone == 1u);
    });
}

BOOST_FIXTURE_TEST_CASE(a_node_that_answers_while_the_lease_is_held, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[1].stop();
        lock const resource{nodes, "r", impatient};
        lease held = co_await resource.acquire();
        BOOST_TEST(held.nodes_held() == 2u);
        servers[1].resume();
        bool const counted = co_await eventually([&] { return held.nodes_held() == 3; });
        BOOST_TEST(counted);
        BOOST_TEST(value(1, "r") == value(0, "r"));
        co_await held.release();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(nodes_that_answer_after_the_attempt_has_failed, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].stop();
        servers[1].stop();
        lock const resource{nodes, "r", impatient};
        auto [ec, nothing] = co_await resource.try_acquire(asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        servers[0].resume();
        servers[1].resume();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
        BOOST_TEST(nodes.status().counters.late_grants_undone == 2u);
    });
}

// A server that is busy with something else, rather than away: it answers, but much too late.
BOOST_FIXTURE_TEST_CASE(servers_that_pause, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].command({"CLIENT", "PAUSE", "800", "ALL"});
        servers[2].command({"CLIENT", "PAUSE", "800", "ALL"});
        lock const resource{nodes, "r", impatient};
        attempt_report report;
        auto [ec, nothing] = co_await resource.try_acquire(report, asio::as_tuple);
        BOOST_TEST(ec == errc::no_majority);
        BOOST_TEST(verdicts(report) == "node_timeout granted node_timeout");
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
        BOOST_TEST(nodes.status().counters.late_grants_undone == 2u);
    });
}

BOOST_FIXTURE_TEST_CASE(the_caller_is_cancelled_in_the_middle_of_an_attempt, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].stop();
        servers[1].stop();
        lock const resource{nodes, "r", patient};
        pending_acquisition pending;
        pending.start(resource);
        bool const granted_by_one = co_await eventually([&] { return servers[2].command({"EXISTS", "r"}) == "1"; });
        BOOST_TEST(granted_by_one);

        stopwatch watch;
        pending.signal.emit(asio::cancellation_type::terminal);
        bool const completed = co_await eventually([&] { return pending.result.has_value(); });
        BOOST_TEST_REQUIRE(completed);
        BOOST_TEST(watch.ms() < 1'000, "a cancelled acquisition waited for the nodes");
        BOOST_TEST(pending.result->ec == asio::error::operation_aborted);
        BOOST_TEST(!pending.result->won);
        bool const given_back = co_await eventually([&] { return servers[2].command({"EXISTS", "r"}) == "0"; });
        BOOST_TEST(given_back);

        servers[0].resume();
        servers[1].resume();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
        // The grant of the third node is late as well if it is heard after the cancellation.
        auto const late = nodes.status().counters.late_grants_undone;
        BOOST_TEST((late == 2u || late == 3u), late);
    });
}

BOOST_FIXTURE_TEST_CASE(partial_cancellation_is_as_good_as_terminal, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].stop();
        servers[1].stop();
        lock const resource{nodes, "r", patient};
        pending_acquisition pending;
        pending.start(resource);
        co_await pause(50ms);
        pending.signal.emit(asio::cancellation_type::partial);
        bool const completed = co_await eventually([&] { return pending.result.has_value(); }, 1s);
        BOOST_TEST_REQUIRE(completed);
        BOOST_TEST(pending.result->ec == asio::error::operation_aborted);
        servers[0].resume();
        servers[1].resume();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(cancel_after_gives_up_in_time_and_leaves_nothing, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].stop();
        servers[1].stop();
        lock const resource{nodes, "r", patient};
        stopwatch watch;
        auto [ec, nothing] = co_await resource.acquire(asio::cancel_after(100ms, asio::as_tuple(asio::deferred)));
        BOOST_TEST(ec == asio::error::operation_aborted);
        BOOST_TEST(watch.ms() >= 99);
        BOOST_TEST(watch.ms() < 1'500);
        servers[0].resume();
        servers[1].resume();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
        BOOST_TEST(nodes.status().counters.late_grants_undone == 2u);
    });
}

// A total cancellation promises that nothing happened. In the middle of an attempt nobody can know that.
BOOST_FIXTURE_TEST_CASE(total_cancellation_waits_for_the_attempt_under_way, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].stop();
        servers[1].stop();
        lock const resource{nodes, "r", {.ttl = 20s, .node_timeout = 600ms}};
        pending_acquisition pending;
        pending.start(resource);
        co_await pause(50ms);
        pending.signal.emit(asio::cancellation_type::total);
        bool const completed = co_await eventually([&] { return pending.result.has_value(); });
        BOOST_TEST_REQUIRE(completed);
        BOOST_TEST(pending.result->ec == asio::error::operation_aborted);
        BOOST_TEST(pending.result->after_ms >= 599);
        BOOST_TEST(nodes.status().counters.no_majority == 1u);
        servers[0].resume();
        servers[1].resume();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(total_cancellation_does_not_undo_an_attempt_that_wins, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        servers[0].stop();
        servers[1].stop();
        lock const resource{nodes, "r", patient};
        pending_acquisition pending;
        pending.start(resource);
        co_await pause(50ms);
        pending.signal.emit(asio::cancellation_type::total);
        co_await pause(50ms);
        BOOST_TEST(!pending.result.has_value());
        servers[0].resume();
        bool const completed = co_await eventually([&] { return pending.result.has_value(); });
        BOOST_TEST_REQUIRE(completed);
        BOOST_TEST(!pending.result->ec);
        BOOST_TEST(pending.got.valid());
        servers[1].resume();
        co_await pending.got.release();
    });
}

BOOST_FIXTURE_TEST_CASE(total_cancellation_between_two_attempts_is_at_once, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const holder{nodes, "r", long_ttl};
        lease held = co_await holder.acquire();
        lock const resource{nodes, "r", {.ttl = 20s, .min_retry_delay = 20s, .max_retry_delay = 20s}};
        pending_acquisition pending;
        pending.start(resource);
        bool const waits = co_await eventually([&] { return nodes.status().waiting == 1; });
        BOOST_TEST(waits);
        stopwatch watch;
        pending.signal.emit(asio::cancellation_type::total);
        bool const completed = co_await eventually([&] { return pending.result.has_value(); });
        BOOST_TEST_REQUIRE(completed);
        BOOST_TEST(watch.ms() < 1'000);
        BOOST_TEST(pending.result->ec == asio::error::operation_aborted);
        BOOST_TEST(held.valid());
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
