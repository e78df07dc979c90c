// with_lock: the lock is given back on every way out.
#include "support/scopes.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>

#include <optional>
#include <stdexcept>
#include <string>

namespace redlock::testing {

BOOST_AUTO_TEST_SUITE(scope)

BOOST_FIXTURE_TEST_CASE(returns_what_the_body_returns_and_releases, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        auto body = [&](lease& held) -> asio::awaitable<std::string> {
            BOOST_TEST(held.valid());
            co_return value(0, "r");
        };
        std::string const seen = co_await with_lock(resource, body);
        BOOST_TEST(seen.size() > 32u);
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
        BOOST_TEST(nodes.status().counters.released == 1u);
    });
}

BOOST_FIXTURE_TEST_CASE(releases_when_the_body_throws, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        auto body = [](lease&) -> asio::awaitable<void> {
            co_await pause(1ms);
            throw std::runtime_error{"the body's own"};
        };
        std::string caught;
        try {
            co_await with_lock(resource, body);
        } catch (std::runtime_error const& e) {
            caught = e.what();
        }
        BOOST_TEST(caught == "the body's own");
        BOOST_TEST(nodes.status().counters.released == 1u);
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(throws_when_the_lock_cannot_be_had, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", {.ttl = 20s, .max_attempts = 1}};
        lease held = co_await resource.acquire();
        bool entered = false;
        auto body = [&](lease&) -> asio::awaitable<void> {
            entered = true;
            co_return;
        };
        error_code const ec = co_await end_of_scope(resource, body);
        BOOST_TEST(ec == errc::contended);
        BOOST_TEST(!entered);
    });
}

BOOST_FIXTURE_TEST_CASE(releases_when_its_caller_is_cancelled, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        witness w;
        lock const resource{nodes, "r", long_ttl};
        auto body = [&](lease& held) { return w.wait_for_the_end(held); };
        asio::cancellation_signal signal;
        std::optional<error_code> ended;
        auto scope = end_of_scope(resource, body);
        auto on_end = [&](std::exception_ptr, error_code ec) { ended = ec; };
        asio::co_spawn(io, std::move(scope), asio::bind_cancellation_slot(signal.slot(), on_end));
        bool const entered = co_await eventually([&] { return w.started.has_value(); });
        BOOST_TEST_REQUIRE(entered);
        signal.emit(asio::cancellation_type::terminal);
        bool const left = co_await eventually([&] { return ended.has_value(); });
        BOOST_TEST_REQUIRE(left);
        BOOST_TEST(w.with == asio::error::operation_aborted);
        BOOST_TEST(*ended == asio::error::operation_aborted);
        BOOST_TEST(nodes.status().counters.released == 1u);
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

BOOST_FIXTURE_TEST_CASE(gives_up_acquiring_when_its_caller_is_cancelled, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        lease held = co_await resource.acquire();
        auto body = [](lease&) -> asio::awaitable<void> { co_return; };
        asio::cancellation_signal signal;
        std::optional<error_code> ended;
        auto scope = end_of_scope(resource, body);
        auto on_end = [&](std::exception_ptr, error_code ec) { ended = ec; };
        asio::co_spawn(io, std::move(scope), asio::bind_cancellation_slot(signal.slot(), on_end));
        bool const in_line = co_await eventually([&] { return nodes.status().waiting == 1; });
        BOOST_TEST(in_line);
        signal.emit(asio::cancellation_type::terminal);
        bool const left = co_await eventually([&] { return ended.has_value(); });
        BOOST_TEST_REQUIRE(left);
        BOOST_TEST(*ended == asio::error::operation_aborted);
        BOOST_TEST(held.valid());
    });
}

BOOST_FIXTURE_TEST_CASE(the_body_may_release_or_take_the_lease_away, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", long_ttl};
        auto releases = [](lease& held) -> asio::awaitable<void> { co_await held.release(); };
        error_code const first = co_await end_of_scope(resource, releases);
        BOOST_TEST(!first);
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);

        lease taken;
        auto takes = [&](lease& held) -> asio::awaitable<void> {
            taken = std::move(held);
            co_return;
        };
        error_code const second = co_await end_of_scope(resource, takes);
        BOOST_TEST(!second);
        BOOST_TEST(taken.valid());
        BOOST_TEST(servers_with("r") >= 2u);
    });
}

BOOST_FIXTURE_TEST_CASE(a_failed_release_is_counted, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        lock const resource{nodes, "r", impatient};
        auto body = [&](lease&) -> asio::awaitable<void> {
            servers[0].stop();
            servers[1].stop();
            co_return;
        };
        error_code const ec = co_await end_of_scope(resource, body);
        BOOST_TEST(!ec);
        BOOST_TEST(nodes.status().counters.releases_unconfirmed == 1u);
        servers[0].resume();
        servers[1].resume();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
    });
}

// Whoever cancels a scope that is on its way out does not cancel the release: it is awaited to its end.
BOOST_FIXTURE_TEST_CASE(the_release_is_shielded_from_cancellation, three_nodes)
{
    run([&]() -> asio::awaitable<void> {
        bool leaving = false;
        lock const resource{nodes, "r", {.ttl = 20s, .node_timeout = 600ms}};
        auto body = [&](lease&) -> asio::awaitable<void> {
            servers[0].stop();
            servers[1].stop();
            leaving = true;
            co_return;
        };
        asio::cancellation_signal signal;
        std::optional<error_code> ended;
        auto scope = end_of_scope(resource, body);
        auto on_end = [&](std::exception_ptr, error_code ec) { ended = ec; };
        asio::co_spawn(io, std::move(scope), asio::bind_cancellation_slot(signal.slot(), on_end));
        bool const on_its_way = co_await eventually([&] { return leaving && nodes.status().releases_pending == 1; });
        BOOST_TEST_REQUIRE(on_its_way);
        signal.emit(asio::cancellation_type::terminal);
        servers[0].resume();
        bool const left = co_await eventually([&] { return ended.has_value(); });
        BOOST_TEST_REQUIRE(left);
        BOOST_TEST(!*ended, ended->message());
        servers[1].resume();
        co_await nodes.drain();
        BOOST_TEST(servers_with("r") == 0u);
        BOOST_TEST(nodes.status().counters.released == 1u);
    });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
