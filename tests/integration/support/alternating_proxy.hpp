// One address behind which there are two servers, like a name with two addresses or a balancer: each connection leads to the
// other one than the connection before.
#ifndef REDLOCK_TESTS_INTEGRATION_ALTERNATING_PROXY_HPP
#define REDLOCK_TESTS_INTEGRATION_ALTERNATING_PROXY_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace redlock::testing {

namespace asio = boost::asio;

class alternating_proxy {
public:
    using tcp = asio::ip::tcp;

    alternating_proxy(asio::io_context& io, std::uint16_t first, std::uint16_t second)
        : acceptor_{io, tcp::endpoint{asio::ip::address_v4::loopback(), 0}}, ports_{first, second}
    {
        asio::co_spawn(io, serve(), asio::detached);
    }

    std::string url() const { return "redis://127.0.0.1:" + std::to_string(acceptor_.local_endpoint().port()); }

    /// Accepts nobody any more. What is open stays so until its ends close it.
    void stop() { acceptor_.close(); }

private:
    using shared_socket = std::shared_ptr<tcp::socket>;

    asio::awaitable<void> serve()
    {
        boost::system::error_code ec;
        for (std::size_t count = 0; !ec; ++count) {
            auto const from = std::make_shared<tcp::socket>(acceptor_.get_executor());
            co_await acceptor_.async_accept(*from, asio::redirect_error(asio::use_awaitable, ec));
            if (ec) co_return;  // stop()
            auto const to = std::make_shared<tcp::socket>(acceptor_.get_executor());
            tcp::endpoint const target{asio::ip::address_v4::loopback(), ports_[count % 2]};
            co_await to->async_connect(target, asio::redirect_error(asio::use_awaitable, ec));
            asio::co_spawn(acceptor_.get_executor(), copy(from, to), asio::detached);
            asio::co_spawn(acceptor_.get_executor(), copy(to, from), asio::detached);
        }
    }

    // Until one of them is closed; then both are.
    static asio::awaitable<void> copy(shared_socket from, shared_socket to)
    {
        std::array<char, 4096> buffer;
        boost::system::error_code ec;
        while (!ec) {
            auto const read = co_await from->async_read_some(asio::buffer(buffer), asio::redirect_error(asio::use_awaitable, ec));
            if (!ec) co_await asio::async_write(*to, asio::buffer(buffer, read), asio::redirect_error(asio::use_awaitable, ec));
        }
        from->close(ec);
        to->close(ec);
    }

    tcp::acceptor acceptor_;
    std::array<std::uint16_t, 2> ports_;
};

}  // namespace redlock::testing

#endif
