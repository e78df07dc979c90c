#include "strange_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace redlock::testing {

namespace asio = boost::asio;
using asio::ip::tcp;

namespace {

// Two answers, since two HELLO come first.
std::string unknown_command(std::string words)
{
    std::replace_if(words.begin(), words.end(), [](char c) { return c == '\r' || c == '\n'; }, ' ');
    std::string const error = "-ERR unknown command `HELLO`, with args beginning with: " + words + "\r\n";
    return error + error;
}

}  // namespace

class strange_server::impl {
public:
    explicit impl(manners how) : how_{how}, acceptor_{io_, {asio::ip::address_v4::loopback(), 0}}, port_{acceptor_.local_endpoint().port()}
    {
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread{[this] { io_.run(); }};
    }

    ~impl()
    {
        io_.stop();
        thread_.join();
    }

    std::uint16_t port() const noexcept { return port_; }

private:
    asio::awaitable<void> accept()
    {
        for (;;) {
            auto [ec, peer] = co_await acceptor_.async_accept(asio::as_tuple(asio::use_awaitable));
            if (ec) co_return;
            if (how_ != manners::closes_at_once) asio::co_spawn(io_, serve(std::move(peer)), asio::detached);
        }
    }

    asio::awaitable<void> serve(tcp::socket peer)
    {
        constexpr std::string_view answer = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
        std::array<char, 1024> ignored;
        for (;;) {
            auto [ec, size] = co_await peer.async_read_some(asio::buffer(ignored), asio::as_tuple(asio::use_awaitable));
            if (ec || how_ == manners::closes_on_command) co_return;
            if (how_ == manners::never_answers) continue;
            if (how_ == manners::repeats_commands) {
                std::string const error = unknown_command({ignored.data(), size});
                co_await asio::async_write(peer, asio::buffer(error), asio::as_tuple(asio::use_awaitable));
                continue;
            }
            co_await asio::async_write(peer, asio::buffer(answer), asio::as_tuple(asio::use_awaitable));
            co_return;
        }
    }

    manners how_;
    asio::io_context io_;
    tcp::acceptor acceptor_;
    std::uint16_t port_;
    std::thread thread_;
};

strange_server::strange_server(manners how) : impl_{std::make_unique<impl>(how)} {}

strange_server::~strange_server() = default;

std::uint16_t strange_server::port() const noexcept { return impl_->port(); }

std::string strange_server::url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

}  // namespace redlock::testing
