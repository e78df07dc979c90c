// A connection to a server that the test plays itself, on loopback.
#include "greeter.hpp"

#include "base/strand.hpp"
#include "node/connection/redis_connection.hpp"
#include "protocol/redis_request.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/redis/request.hpp>
#include <boost/test/unit_test.hpp>

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

// One connection to the greeter, in which some handlers have run.
struct connecting {
    explicit connecting(std::size_t handlers, config with = {}) : common{std::move(with)}
    {
        address.host = "127.0.0.1";
        address.port = server.port();
        settings = std::make_unique<connection_settings>(address, common);
        connection = std::make_shared<redis_connection>(make_client_strand(io.get_executor(), true), *settings,
                                                        handshake{address, handshake::greeting_only{}});
        connection->open(owner);
        for (std::size_t i = 0; i < handlers && owner->closed == 0; ++i) io.run_one();
        BOOST_REQUIRE(owner->closed == 0);
    }

    std::shared_ptr<connection_listener> const owner{std::make_shared<connection_listener>()};
    config const common;
    node_address address;
    asio::io_context io{1};
    greeter server{io};
    std::unique_ptr<connection_settings> settings;
    std::shared_ptr<redis_connection> connection;
};

config impatient()
{
    config result;
    result.stall_timeout = 400ms;
    return result;
}

constexpr std::size_t latest_moment = 1'000;

}  // namespace

BOOST_AUTO_TEST_SUITE(redis_connections)

// The answer to the handshake may be taken in already when the connection is closed, and wait for its turn to be told.
BOOST_AUTO_TEST_CASE(a_connection_that_was_closed_does_not_open_at_whatever_moment_that_was)
{
    bool opened_in_time = false;
    for (std::size_t moment = 0; !opened_in_time && moment < latest_moment; ++moment) {
        connecting c{moment};
        opened_in_time = c.owner->opened;
        c.connection->close();
        while (c.owner->closed == 0) BOOST_REQUIRE(c.io.run_one() == 1u);
        BOOST_TEST(c.owner->opened == opened_in_time, "closed after " << moment << " handlers");
        BOOST_TEST(c.owner->closed == 1);
    }
    BOOST_TEST(opened_in_time);
}

// A caller may close with each handler that runs. If each call gave more than one handler to run, the last one would never be reached.
BOOST_AUTO_TEST_CASE(closing_again_and_again_does_not_put_off_the_end)
{
    constexpr std::size_t enough_handlers = 1'000;
    bool opened = false;
    for (std::size_t moment = 0; !opened && moment < latest_moment; ++moment) {
        connecting c{moment};
        opened = c.owner->opened;
        std::size_t handlers = 0;
        for (; c.owner->closed == 0 && handlers < enough_handlers; ++handlers) {
            c.connection->close();
            BOOST_REQUIRE(c.io.run_one() == 1u);
        }
        BOOST_TEST(c.owner->closed == 1, "closed after " << moment << " handlers");
    }
    BOOST_TEST(opened);
}

// The server was silent before, since nobody asked it anything.
BOOST_AUTO_TEST_CASE(a_server_has_the_whole_stall_timeout_for_an_answer)
{
    connecting c{0, impatient()};
    while (!c.owner->opened) BOOST_REQUIRE(c.io.run_one() == 1u);
    boost::redis::request question;
    question.push("TIME");
    node_sink answer;
    steady_clock::time_point asked;
    asio::steady_timer later{c.io, c.common.stall_timeout * 5 / 8};
    later.async_wait([&](error_code) {
        asked = steady_clock::now();
        c.connection->send(question, answer, [](error_code) {});
    });
    while (c.owner->closed == 0) BOOST_REQUIRE(c.io.run_one() == 1u);
    BOOST_TEST((c.owner->why == errc::node_timeout));
    BOOST_TEST((steady_clock::now() - asked >= c.common.stall_timeout));
}

// Later answers would be taken for those to the requests before.
BOOST_AUTO_TEST_CASE(an_auth_that_is_not_answered_ends_the_connection)
{
    for (std::string const to_auth : {"", "+OK\r\n", "-WRONGPASS no\r\n"}) {
        connecting c{0};
        while (!c.owner->opened) BOOST_REQUIRE(c.io.run_one() == 1u);
        c.server.to_auth = to_auth;
        std::vector<std::string> ends;
        c.connection->log_in("app", "next", [&](error_code ec, std::string const& refusal) {
            ends.push_back(ec ? "lost" : refusal.empty() ? "agreed" : refusal);
        });
        boost::redis::request question{one_connection_only()};
        question.push("HELLO", "3");
        std::size_t answers = 0;
        node_sink answer = [&](std::size_t, auto const&) { ++answers; };
        c.connection->send(question, answer, [&](error_code ec) { ends.push_back(ec ? "lost" : "answered"); });
        while (ends.size() < 2 && c.owner->closed == 0) BOOST_REQUIRE(c.io.run_one() == 1u);
        if (to_auth.empty()) {
            while (ends.size() < 2 || c.owner->closed == 0) BOOST_REQUIRE(c.io.run_one() == 1u);
            BOOST_TEST((c.owner->why == errc::unexpected_reply));
            BOOST_TEST(c.owner->words.starts_with("AUTH was not answered"), c.owner->words);
            BOOST_TEST(answers == 0u);
            BOOST_TEST(ends == (std::vector<std::string>{"lost", "lost"}), boost::test_tools::per_element());
        } else {
            BOOST_TEST(ends == (std::vector<std::string>{to_auth == "+OK\r\n" ? "agreed" : "WRONGPASS no", "answered"}),
                       boost::test_tools::per_element());
            BOOST_TEST(answers == 3u);
            BOOST_TEST(c.owner->closed == 0);
        }
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
