// A Redis server that says it is another one: what stands between it and its client replaces a word in its answers by another one of
// the same length.
#ifndef REDLOCK_TESTS_INTEGRATION_DISGUISE_HPP
#define REDLOCK_TESTS_INTEGRATION_DISGUISE_HPP

#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace redlock::testing {

namespace asio = boost::asio;

/// Listens on a free loopback port until it is destroyed, on a thread of its own.
class disguise {
public:
    using tcp = asio::ip::tcp;

    disguise(std::uint16_t server, std::string word, std::string other)
        : server_{server},
          word_{std::move(word)},
          other_{std::move(other)},
          acceptor_{io_, tcp::endpoint{asio::ip::address_v4::loopback(), 0}}
    {
        assert(word_.size() == other_.size());
        asio::co_spawn(io_, serve(), asio::detached);
        thread_ = std::jthread{[this] { io_.run(); }};
    }
    ~disguise()
    {
        io_.stop();
        thread_.join();
    }
    disguise(disguise const&) = delete;
    disguise& operator=(disguise const&) = delete;

    std::uint16_t port() const { return acceptor_.local_endpoint().port(); }
    std::string url() const { return "redis://127.0.0.1:" + std::to_string(port()); }

private:
    using shared_socket = std::shared_ptr<tcp::socket>;

    asio::awaitable<void> serve()
    {
        for (;;) {
            boost::system::error_code ec;
            auto const from = std::make_shared<tcp::socket>(io_);
            auto accepting = acceptor_.async_accept(*from, asio::redirect_error(asio::use_awaitable, ec));
            co_await std::move(accepting);
            if (ec) co_return;
            auto const to = std::make_shared<tcp::socket>(io_);
            auto connecting = to->async_connect({asio::ip::address_v4::loopback(), server_}, asio::redirect_error(asio::use_awaitable, ec));
            co_await std::move(connecting);
            if (ec) continue;
            asio::co_spawn(io_, copy(from, to, false), asio::detached);
            asio::co_spawn(io_, copy(to, from, true), asio::detached);
        }
    }

    // Until one of them is closed; then both are. The word may come in two pieces: no answer ends within it.
    asio::awaitable<void> copy(shared_socket from, shared_socket to, bool disguised)
    {
        boost::system::error_code ec;
        std::array<char, 16'384> chunk;
        std::string text;
        while (!ec) {
            auto reading = from->async_read_some(asio::buffer(chunk), asio::redirect_error(asio::use_awaitable, ec));
            std::size_t const size = co_await std::move(reading);
            if (ec) break;
            text.append(chunk.data(), size);
            std::size_t const ready = disguised ? replace(text) : text.size();
            std::string const out = text.substr(0, ready);
            text.erase(0, ready);
            auto writing = asio::async_write(*to, asio::buffer(out), asio::redirect_error(asio::use_awaitable, ec));
            co_await std::move(writing);
        }
        boost::system::error_code ignored;
        from->close(ignored);
        to->close(ignored);
    }

    // How much of the text has been looked at.
    std::size_t replace(std::string& text) const
    {
        for (std::size_t at = text.find(word_); at != std::string::npos; at = text.find(word_, at)) text.replace(at, word_.size(), other_);
        for (std::size_t begun = std::min(text.size(), word_.size() - 1); begun > 0; --begun)
            if (std::string_view{text}.ends_with(std::string_view{word_}.substr(0, begun))) return text.size() - begun;
        return text.size();
    }

    std::uint16_t server_;
    std::string word_, other_;
    asio::io_context io_{1};
    tcp::acceptor acceptor_;
    std::jthread thread_;
};

}  // namespace redlock::testing

#endif
