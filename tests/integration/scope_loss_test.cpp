// with_lock when the lease is lost: the body is cancelled before the lease ends, and the scope says why.
#include "support/scopes.hpp"

namespace redlock::testing {
namespace {

// Without tokens, so that a key that is gone stays gone.
constexpr lock_options steady_scope{.ttl = 3s, .fencing = false, .extend_interval = 500ms};

}  // namespace

BOOST_AUTO_TEST_SUITE(scope_loss)

BOOST_FIXTURE_TEST_CASE(cancels_the_body_when_the_keys_are_gone, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        witness w;
        lock const resource{nodes, "r", steady_scope};
        auto body = [&](lease& held) -> asio::awaitable<void> {
            servers[0].command({"DEL", "r"});
            servers[2].command({"DEL", "r"});
            co_await w.wait_for_the_end(held);
        };
        error_code const ec = co_await end_of_scope(resource, body);
        BOOST_TEST(ec == errc::lease_lost);
        BOOST_TEST(w.with == asio::error::operation_aborted);
        BOOST_TEST((*w.cancelled - *w.started < 1500ms), "one interval is 500 ms");
        // The end of the lease is when the loss was noticed: the body stopped right after it.
        BOOST_TEST((nodes.status().counters.max_overrun < 1s));
    });
}

BOOST_FIXTURE_TEST_CASE(cancels_the_body_when_somebody_else_has_the_keys, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        witness w;
        lock const resource{nodes, "r", steady_scope};
        auto body = [&](lease& held) -> asio::awaitable<void> {
            on_all({"SET", "r", "somebody else's"});
            co_await w.wait_for_the_end(held);
        };
        error_code const ec = co_await end_of_scope(resource, body);
        BOOST_TEST(ec == errc::lease_lost);
        BOOST_TEST((*w.cancelled - *w.started < 1500ms));
        co_await nodes.drain();
        for (std::size_t i = 0; i < 3; ++i) BOOST_TEST(value(i, "r") == "somebody else's");
        on_all({"DEL", "r"});
    });
}

BOOST_FIXTURE_TEST_CASE(cancels_the_body_before_the_end_when_the_majority_is_silent, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        witness w;
        lock const resource{nodes, "r", {.ttl = 1500ms, .stop_margin = 500ms}};
        auto body = [&](lease& held) -> asio::awaitable<void> {
            servers[0].stop();
            servers[1].stop();
            co_await w.wait_for_the_end(held);
        };
        error_code const ec = co_await end_of_scope(resource, body);
        BOOST_TEST(ec == errc::lease_lost);
        BOOST_TEST(w.with == asio::error::operation_aborted);
        auto const left = *w.valid_until - *w.cancelled;
        BOOST_TEST((left > 0ns && left <= 500ms), left / 1ms << " ms were left");
        BOOST_TEST(nodes.status().counters.overruns == 0u);
        servers[0].resume();
        servers[1].resume();
    });
}

BOOST_FIXTURE_TEST_CASE(a_body_that_does_not_stop_is_counted_and_its_result_is_void, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 600ms, .auto_extend = false}};
        auto body = [&](lease& held) -> asio::awaitable<void> {
            co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
            while (boot_clock::now() < held.valid_until() + 50ms) co_await pause(10ms);
        };
        error_code const ec = co_await end_of_scope(resource, body);
        BOOST_TEST(ec == errc::lease_lost);
        auto const counters = nodes.status().counters;
        BOOST_TEST(counters.overruns == 1u);
        BOOST_TEST((counters.max_overrun >= 50ms && counters.max_overrun < 5s));
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
