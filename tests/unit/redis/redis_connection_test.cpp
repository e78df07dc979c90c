// A connection to a server that the test plays itself, on loopback.
#include "base/strand.hpp"
#include "redis/redis_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>
#include <boost/test/unit_test.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace redlock::detail {
namespace {

using asio::ip::tcp;

// Accepts one client, and agrees to each HELLO.
class greeter {
public:
    explicit greeter(asio::io_context& io) : acceptor_{io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}}, client_{io}
    {
        acceptor_.async_accept(client_, [this](error_code ec) {
            if (!ec) read();
        });
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

private:
    void read()
    {
        client_.async_read_some(asio::buffer(buffer_), [this](error_code ec, std::size_t size) {
            if (ec) return;
            heard_.append(buffer_.data(), size);
            std::string answer;
            for (auto at = heard_.find(word); at != heard_.npos; at = heard_.find(word)) {
                heard_.erase(0, at + word.size());
                answer += "%1\r\n+proto\r\n:3\r\n";
            }
            error_code gone;
            asio::write(client_, asio::buffer(answer), gone);
            if (!gone) read();
        });
    }

    static constexpr std::string_view word = "HELLO";

    tcp::acceptor acceptor_;
    tcp::socket client_;
    std::array<char, 1024> buffer_;
    std::string heard_;
};

struct listener final : connection_owner {
    void on_open(redis_connection&) override { opened = true; }
    void on_closed(redis_connection&, error_code, std::string const&) override { ++closed; }
    void on_push(redis_connection&, boost::redis::resp3::node_view const&) override {}
    void on_pushed(redis_connection&) override {}
    void on_time(redis_connection&, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

    bool opened{false};
    int closed{0};
};

// One connection to the greeter, in which some handlers have run.
struct connecting {
    explicit connecting(std::size_t handlers)
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

    std::shared_ptr<listener> const owner{std::make_shared<listener>()};
    config const common;
    node_address address;
    asio::io_context io{1};
    greeter server{io};
    std::unique_ptr<connection_settings> settings;
    std::shared_ptr<redis_connection> connection;
};

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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace redlock::detail
