// config::credentials: tokens that run out, users whose password changes while locks are held, and functions that fail, hang or are slow.
#include "base/strand.hpp"
#include "node/connection/redis_connection.hpp"
#include "protocol/redis_request.hpp"
#include "support/mentions.hpp"
#include "support/one_client.hpp"

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace redlock::testing {
namespace {

redis_server_options const with_locker{.arguments = {"--user", "locker", "on", ">first", "~*", "&*", "+@all"}};

node_address without_password(redis_server const& s) { return {.host = "127.0.0.1", .port = s.port(), .password = {}}; }

// What hands out the tokens. The client's io_context has one thread.
struct a_vault {
    redlock::credentials token{.username = "locker", .password = "first"};
    std::chrono::milliseconds delay{0};
    std::size_t calls{0};
    std::size_t cancelled{0};
    asio::any_io_executor executor;  // for what fetches them

    asio::awaitable<redlock::credentials> fetch()
    {
        asio::steady_timer timer{co_await asio::this_coro::executor, delay};
        auto waiting = timer.async_wait(asio::as_tuple(asio::use_awaitable));
        auto const [ec] = co_await std::move(waiting);
        if (ec) ++cancelled;
        co_return token;
    }

    config settings()
    {
        config c = quick_config();
        c.credentials = [this](node_address const&, credentials_handler handler) {
            ++calls;
            asio::co_spawn(executor, fetch(), std::move(handler));
        };
        return c;
    }
};

config failing_settings(credentials_function ask)
{
    config c = quick_config();
    c.credentials = std::move(ask);
    return c;
}

std::string login_statistics(redis_server const& server)
{
    std::string const all = server.command({"INFO", "commandstats"});
    auto const at = all.find("cmdstat_auth:");
    return at == std::string::npos ? "" : all.substr(at, all.find('\r', at) - at);
}

bool has_logged_in_again(redis_server const& server) { return !login_statistics(server).empty(); }

bool was_refused_again(redis_server const& server)
{
    auto const text = login_statistics(server);
    return !text.empty() && text.find("failed_calls=0") == std::string::npos;
}

bool never_connected_again(cluster const& c)
{
    auto const all = c.nodes.status().nodes;
    return std::all_of(all.begin(), all.end(), [](auto const& n) { return n.connects == 1; });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(logins_of_the_page)

// docs/connections.md shows this.
BOOST_AUTO_TEST_CASE(the_function_of_the_page)
{
    auto const fetch_token = [](std::string host) -> asio::awaitable<redlock::credentials> {
        if (host != "127.0.0.1") throw std::runtime_error{"nothing is known of " + host};
        co_return redlock::credentials{.username = "locker", .password = "first"};
    };
    asio::thread_pool others{1};
    auto const executor = others.get_executor();
    redlock::config settings = quick_config();
    settings.credentials = [=](redlock::node_address const& node, redlock::credentials_handler handler) {
        asio::co_spawn(executor, fetch_token(node.host), std::move(handler));  // an asio::awaitable<redlock::credentials>
    };
    cluster_reached{3, with_locker, without_password, settings}.expect_locks();
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(logins, a_vault)

BOOST_AUTO_TEST_CASE(each_node_is_logged_in_to_with_what_the_function_gives)
{
    cluster_reached c{3, with_locker, without_password, settings()};
    executor = c.io.get_executor();
    c.run([&]() -> asio::awaitable<void> {
        auto locking = c.lock_everywhere();
        co_await std::move(locking);
        BOOST_TEST(calls == 3u);
        auto const list = c.servers[0].command({"CLIENT", "LIST"});
        auto const at = list.find(" name=redlock ");
        BOOST_TEST(list.find(" user=locker ", at) != std::string::npos, list);
    });
}

BOOST_AUTO_TEST_CASE(a_node_with_a_password_of_its_own_is_not_asked_for)
{
    cluster_reached c{1, with_locker,
                      [](redis_server const& s) {
                          return node_address{.host = "127.0.0.1", .port = s.port(), .username = "locker", .password = "first"};
                      },
                      settings()};
    c.expect_locks();
    BOOST_TEST(calls == 0u);
}

// The operator changes the password while a lock is held. The connections stay, with the new one.
BOOST_AUTO_TEST_CASE(a_token_that_runs_out_is_replaced_on_the_open_connection)
{
    token.valid_for = 400ms;
    cluster_reached c{3, with_locker, without_password, settings()};
    executor = c.io.get_executor();
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "held", long_ttl};
        auto acquire = resource.acquire();
        lease held = co_await std::move(acquire);
        auto const fence = held.token();
        token.password = "second";
        c.on_all({"ACL", "SETUSER", "locker", "resetpass", ">second"});
        auto renewal = eventually([&] { return std::all_of(c.servers.begin(), c.servers.end(), has_logged_in_again); });
        bool const renewed = co_await std::move(renewal);
        BOOST_TEST(renewed);
        BOOST_TEST(never_connected_again(c));
        auto extend = held.extend();
        co_await std::move(extend);
        BOOST_TEST(held.nodes_held() == 3u);
        BOOST_TEST(held.token() == fence);
        auto release = held.release();
        co_await std::move(release);
    });
    BOOST_TEST(calls >= 6u);
}

BOOST_AUTO_TEST_CASE(a_token_that_the_server_refuses_later_is_asked_for_anew_and_the_connection_stays)
{
    token.valid_for = 100ms;
    cluster_reached c{1, with_locker, without_password, settings()};
    executor = c.io.get_executor();
    c.run([&]() -> asio::awaitable<void> {
        lock const resource{c.nodes, "held", long_ttl};
        auto acquire = resource.acquire();
        lease held = co_await std::move(acquire);
        token.valid_for = 1h;  // so that it is the refusal for which the client asks again
        c.on_all({"ACL", "SETUSER", "locker", "resetpass", ">second"});
        auto refusal = eventually([&] { return was_refused_again(c.servers[0]); });
        bool const refused = co_await std::move(refusal);
        BOOST_TEST(refused);
        auto telling = eventually(
            [&] { return mentions(c.first().login_text, "and the client repeats the attempt: the server refused them: WRONGPASS"); });
        bool const told = co_await std::move(telling);
        BOOST_TEST(told, c.first().login_text);
        auto extend = held.extend();
        co_await std::move(extend);
        token.password = "second";
        c.on_all({"CONFIG", "RESETSTAT"});
        auto success = eventually([&] { return has_logged_in_again(c.servers[0]) && !was_refused_again(c.servers[0]); });
        bool const succeeded = co_await std::move(success);
        BOOST_TEST(succeeded, login_statistics(c.servers[0]));
        auto forgetting = eventually([&] { return c.first().login_text.empty(); });
        bool const forgotten = co_await std::move(forgetting);
        BOOST_TEST(forgotten, c.first().login_text);
        BOOST_TEST(never_connected_again(c));
        auto release = held.release();
        co_await std::move(release);
    });
}

// Redis from 7.2 on leaves it unanswered. No answer may be taken for that to another request.
BOOST_AUTO_TEST_CASE(a_token_that_is_refused_among_other_answers)
{
    struct listener final : detail::connection_owner {
        void on_open(detail::redis_connection&) override { opened = true; }
        void on_closed(detail::redis_connection&, error_code why, std::string const&) override { closed = why; }
        void on_push(detail::redis_connection&, boost::redis::resp3::node_view const&) override {}
        void on_pushed(detail::redis_connection&) override {}
        void on_time(detail::redis_connection&, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

        bool opened{false};
        std::optional<error_code> closed;
    };
    redis_server const server{with_locker};
    auto address = without_password(server);
    address.username = "locker";
    address.password = "first";
    config const common = quick_config();
    detail::connection_settings const of{address, common};
    asio::io_context io{1};
    auto const owner = std::make_shared<listener>();
    auto const connection = std::make_shared<detail::redis_connection>(detail::make_client_strand(io.get_executor(), true), of,
                                                                       detail::handshake{address, detail::handshake::greeting_only{}});
    connection->open(owner);
    while (!owner->opened) BOOST_REQUIRE(io.run_one() == 1u);

    boost::redis::request echo{detail::one_connection_only()};
    echo.push("ECHO", "mine");
    std::vector<std::string> answers, ends;
    detail::node_sink sink = [&](std::size_t, auto const& node) { answers.emplace_back(node.value); };
    auto const note = [&](error_code ec) { ends.emplace_back(ec ? "lost" : "answered"); };
    connection->send(echo, sink, note);
    connection->log_in("locker", "wrong",
                       [&](error_code ec, std::string const& refusal) { ends.emplace_back(ec ? "lost" : refusal.substr(0, 9)); });
    connection->send(echo, sink, note);
    while (ends.size() < 3) BOOST_REQUIRE(io.run_one() == 1u);
    bool const told = ends == std::vector<std::string>{"answered", "WRONGPASS", "answered"};
    BOOST_TEST(std::all_of(answers.begin(), answers.end(), [](auto const& text) { return text == "mine"; }));
    BOOST_TEST(answers.size() == (told ? 2u : 1u));
    if (!told) {
        BOOST_TEST(ends[1] == "lost");
        BOOST_TEST(ends[2] == "lost");
        while (!owner->closed) BOOST_REQUIRE(io.run_one() == 1u);
        BOOST_TEST((*owner->closed == errc::unexpected_reply));
        return;
    }
    connection->close();
    while (!owner->closed) BOOST_REQUIRE(io.run_one() == 1u);
}

// A server that does not know a command repeats what it was sent.
BOOST_AUTO_TEST_CASE(a_token_is_not_told_by_a_server_that_does_not_know_auth)
{
    token.valid_for = 100ms;
    auto without_auth = with_locker;
    without_auth.arguments.insert(without_auth.arguments.end(), {"--rename-command", "AUTH", ""});
    cluster_reached c{1, without_auth, without_password, settings()};
    executor = c.io.get_executor();
    c.run([&]() -> asio::awaitable<void> {
        token.password = "a-token-that-is-secret";
        auto telling = eventually([&] { return mentions(c.first().login_text, "the server refused them: ERR unknown command 'AUTH'"); });
        bool const told = co_await std::move(telling);
        BOOST_TEST(told, c.first().login_text);
        BOOST_TEST(!mentions(c.first().login_text, "a-token"), c.first().login_text);
        BOOST_TEST(!mentions(c.first().login_text, "locker"), c.first().login_text);
    });
}

BOOST_AUTO_TEST_CASE(a_function_that_fails_later_costs_no_connection)
{
    bool fails = false;
    std::size_t failures = 0;
    cluster_reached c{1, with_locker, without_password, failing_settings([&](node_address const&, credentials_handler handler) {
                          if (fails) {
                              ++failures;
                              throw std::runtime_error{"the vault is sealed"};
                          }
                          std::move(handler)(nullptr, redlock::credentials{.username = "locker", .password = "first", .valid_for = 50ms});
                      })};
    c.run([&]() -> asio::awaitable<void> {
        fails = true;
        auto failing = eventually([&] { return failures >= 3; });
        bool const failed = co_await std::move(failing);
        BOOST_TEST(failed);
        BOOST_TEST(never_connected_again(c));
        BOOST_TEST(c.usable() == 1u);
        BOOST_TEST(mentions(c.first().login_text, "the credentials could not be renewed, and the client repeats the attempt: "
                                                  "config::credentials failed: the vault is sealed"),
                   c.first().login_text);
        auto locking = c.lock_everywhere();
        co_await std::move(locking);
    });
}

BOOST_AUTO_TEST_CASE(credentials_that_the_server_refuses_are_asked_for_anew)
{
    token.password = "wrong";
    cluster_reached c{1, with_locker, without_password, settings()};
    executor = c.io.get_executor();
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        auto failing = c.fail(errc::handshake_refused, "wrong user name or password");
        co_await std::move(failing);
        token.password = "first";
        auto coming = eventually([&] { return c.usable() == 1; });
        bool const came = co_await std::move(coming);
        BOOST_TEST(came, c.first().last_error_text);
    });
}

BOOST_AUTO_TEST_CASE(a_function_that_throws)
{
    auto const ask = [](node_address const&, credentials_handler) { throw std::runtime_error{"the vault is sealed"}; };
    cluster_reached{1, with_locker, without_password, failing_settings(ask)}.expect_failure(
        errc::credentials_unavailable, "config::credentials failed: the vault is sealed");
}

BOOST_AUTO_TEST_CASE(an_operation_that_fails)
{
    auto const ask = [](node_address const& node, credentials_handler handler) {
        std::move(handler)(std::make_exception_ptr(std::runtime_error{"nothing is known of " + node.to_string()}), redlock::credentials{});
    };
    cluster_reached{1, with_locker, without_password, failing_settings(ask)}.expect_failure(
        errc::credentials_unavailable, "config::credentials failed: nothing is known of 127.0.0.1:");
}

BOOST_AUTO_TEST_CASE(credentials_that_cannot_be_any)
{
    std::vector<std::pair<redlock::credentials, std::string>> const all{{{.username = "locker", .password = ""}, "an empty password"},
                                                                        {{.username = "", .password = "first"}, "an empty username"},
                                                                        {{.username = "locker", .password = "first", .valid_for = 0ms},
                                                                         "a valid_for that is not above 0"}};
    for (auto const& [what, words] : all) {
        auto const ask = [&](node_address const&, credentials_handler handler) { std::move(handler)(nullptr, what); };
        cluster_reached{1, with_locker, without_password, failing_settings(ask)}.expect_failure(errc::credentials_unavailable,
                                                                                                "config::credentials completed with " +
                                                                                                    words);
    }
}

// The coroutine that waits is cancelled, and asked for again.
BOOST_AUTO_TEST_CASE(a_function_that_never_completes)
{
    delay = 1h;
    config c = settings();
    c.credentials_timeout = 50ms;
    cluster_reached reached{1, with_locker, without_password, c};
    executor = reached.io.get_executor();
    reached.expect_failure(errc::credentials_unavailable, "did not complete within credentials_timeout");
    BOOST_TEST(calls >= 1u);
    BOOST_TEST(cancelled == calls);
}

BOOST_AUTO_TEST_CASE(a_handler_that_is_dropped)
{
    config c = failing_settings([](node_address const&, credentials_handler) {});
    c.credentials_timeout = 50ms;
    cluster_reached{1, with_locker, without_password, c}.expect_failure(errc::credentials_unavailable,
                                                                        "did not complete within credentials_timeout");
}

BOOST_AUTO_TEST_CASE(a_function_that_is_slow)
{
    delay = 300ms;
    cluster_reached c{3, with_locker, without_password, settings()};
    executor = c.io.get_executor();
    c.expect_locks();
    BOOST_TEST(calls == 3u);
    BOOST_TEST(cancelled == 0u);
}

BOOST_AUTO_TEST_CASE(an_operation_that_completes_in_another_thread)
{
    std::vector<std::thread> threads;
    auto const ask = [&](node_address const&, credentials_handler handler) {
        threads.emplace_back([handler = std::move(handler)]() mutable {
            std::move(handler)(nullptr, redlock::credentials{.username = "locker", .password = "first"});
        });
    };
    cluster_reached{3, with_locker, without_password, failing_settings(ask)}.expect_locks();
    for (auto& t : threads) t.join();
}

BOOST_AUTO_TEST_CASE(a_client_that_stops_does_not_wait_for_the_function)
{
    delay = 1h;
    cluster_reached c{3, with_locker, without_password, settings()};
    executor = c.io.get_executor();
    c.usable_at_start = 0;
    c.run([&]() -> asio::awaitable<void> {
        auto asking = eventually([&] { return calls == 3; });
        bool const asked = co_await std::move(asking);
        BOOST_TEST(asked);
    });
    BOOST_TEST(cancelled == 3u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::testing
