// The other end of a connection: a server that agrees to each HELLO, and answers AUTH as it is told; and the owner of the connection.
#ifndef REDLOCK_TESTS_UNIT_REDIS_GREETER_HPP
#define REDLOCK_TESTS_UNIT_REDIS_GREETER_HPP

#include "node/connection/redis_connection.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

namespace redlock::detail {

// Accepts one client, and another one after each accept(), and agrees to each HELLO.
class greeter {
public:
    explicit greeter(asio::io_context& io) : acceptor_{io, asio::ip::tcp::endpoint{asio::ip::address_v4::loopback(), 0}}, client_{io}
    {
        accept();
    }

    void accept()
    {
        client_ = asio::ip::tcp::socket{acceptor_.get_executor()};
        acceptor_.async_accept(client_, [this](error_code ec) {
            if (!ec) read();
        });
    }

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

    std::string to_auth;  // empty: nothing, as of Redis where it refuses AUTH behind other answers

private:
    void read()
    {
        client_.async_read_some(asio::buffer(buffer_), [this](error_code ec, std::size_t size) {
            if (ec) return;
            heard_.append(buffer_.data(), size);
            std::string answer;
            for (auto at = heard_.find('\n'); at != heard_.npos; at = heard_.find('\n')) {
                if (heard_.starts_with("HELLO")) answer += "%1\r\n+proto\r\n:3\r\n";
                if (heard_.starts_with("AUTH")) answer += to_auth;
                heard_.erase(0, at + 1);
            }
            error_code gone;
            asio::write(client_, asio::buffer(answer), gone);
            if (!gone) read();
        });
    }

    asio::ip::tcp::acceptor acceptor_;
    asio::ip::tcp::socket client_;
    std::array<char, 1024> buffer_;
    std::string heard_;
};

struct connection_listener final : connection_owner {
    void on_open(redis_connection&) override { opened = true; }
    void on_closed(redis_connection&, error_code reason, std::string const& said) override
    {
        ++closed;
        why = reason;
        words = said;
    }
    void on_push(redis_connection&, boost::redis::resp3::node_view const&) override {}
    void on_pushed(redis_connection&) override {}
    void on_time(redis_connection&, quorum::wall_time, quorum::time_point, quorum::time_point) override {}

    bool opened{false};
    int closed{0};
    error_code why;
    std::string words;
};

}  // namespace redlock::detail

#endif
