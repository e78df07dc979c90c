#include "hostile_server.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/socket_base.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/ssl/stream.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <string_view>
#include <thread>
#include <utility>

namespace redlock::testing {

namespace asio = boost::asio;
using asio::ip::tcp;
using namespace std::chrono_literals;

namespace {

constexpr auto no_throw = asio::as_tuple(asio::use_awaitable);
constexpr auto quiet_for = 50ms;

}  // namespace

class hostile_server::impl {
public:
    impl(harm how, std::optional<certified_key> const& tls)
        : how_{std::move(how)}, acceptor_{io_, {asio::ip::address_v4::loopback(), 0}}, port_{acceptor_.local_endpoint().port()}
    {
        if (tls) {
            tls_.emplace(asio::ssl::context::tls_server);
            tls_->use_certificate_chain_file(tls->certificate);
            tls_->use_private_key_file(tls->key, asio::ssl::context::pem);
        }
        while (!how_.endless.empty() && chunk_.size() < 64 * 1024) chunk_ += how_.endless;
        asio::co_spawn(io_, accept(), asio::detached);
        thread_ = std::thread{[this] { io_.run(); }};
    }

    ~impl()
    {
        io_.stop();
        thread_.join();
    }

    std::uint16_t port() const noexcept { return port_; }
    std::size_t ended() const noexcept { return ended_; }
    std::size_t most_taken() const noexcept { return most_taken_; }

private:
    asio::awaitable<void> accept()
    {
        for (;;) {
            auto [ec, peer] = co_await acceptor_.async_accept(no_throw);
            if (ec) co_return;
            peer.set_option(asio::socket_base::send_buffer_size{64 * 1024});
            if (tls_) {
                asio::co_spawn(io_, shake_hands(std::move(peer)), asio::detached);
            } else {
                asio::co_spawn(io_, serve(std::make_shared<tcp::socket>(std::move(peer))), asio::detached);
            }
        }
    }

    asio::awaitable<void> shake_hands(tcp::socket peer)
    {
        auto const stream = std::make_shared<asio::ssl::stream<tcp::socket>>(std::move(peer), *tls_);
        auto [ec] = co_await stream->async_handshake(asio::ssl::stream_base::server, no_throw);
        if (!ec) co_await serve(stream);
    }

    template <class Stream>
    asio::awaitable<void> serve(std::shared_ptr<Stream> peer)
    {
        if (how_.behind != 0) {
            if (!co_await be_good(peer)) co_return;
        } else {
            std::array<char, 1024> ignored;
            auto [ec, size] = co_await peer->async_read_some(asio::buffer(ignored), no_throw);
            if (ec) co_return;
        }
        co_await do_harm(*peer);
    }

    // Until it is time for harm (true), or somebody has gone.
    template <class Stream>
    asio::awaitable<bool> be_good(std::shared_ptr<Stream> peer)
    {
        auto const good = std::make_shared<tcp::socket>(io_);
        auto [failed] = co_await good->async_connect({asio::ip::address_v4::loopback(), how_.behind}, no_throw);
        if (failed) co_return false;
        auto const over = std::make_shared<bool>(false);
        auto const heard = std::make_shared<asio::steady_timer>(io_);
        asio::co_spawn(io_, pass_back(peer, good, over, heard), asio::detached);
        std::array<char, 16 * 1024> buffer;
        for (;;) {
            auto [ec, size] = co_await peer->async_read_some(asio::buffer(buffer), no_throw);
            if (ec || *over) co_return false;
            bool const found = std::string_view{buffer.data(), size}.find(how_.word) != std::string_view::npos;
            if (found && !how_.later) break;
            auto [ec2, written] = co_await asio::async_write(*good, asio::buffer(buffer.data(), size), no_throw);
            if (ec2) co_return false;
            if (!found) continue;
            boost::system::error_code late;
            do {  // each answer begins the wait anew
                heard->expires_after(quiet_for);
                std::tie(late) = co_await heard->async_wait(no_throw);
            } while (late);
            break;
        }
        *over = true;
        good->close();
        co_return true;
    }

    template <class Stream>
    static asio::awaitable<void> pass_back(std::shared_ptr<Stream> peer, std::shared_ptr<tcp::socket> good, std::shared_ptr<bool> over,
                                           std::shared_ptr<asio::steady_timer> heard)
    {
        std::array<char, 16 * 1024> buffer;
        for (;;) {
            auto [ec, size] = co_await good->async_read_some(asio::buffer(buffer), no_throw);
            if (ec || *over) co_return;
            auto [ec2, written] = co_await asio::async_write(*peer, asio::buffer(buffer.data(), size), no_throw);
            if (ec2) co_return;
            heard->cancel();
        }
    }

    template <class Stream>
    asio::awaitable<void> do_harm(Stream& peer)
    {
        auto const all = std::make_shared<std::string>(how_.begin + (how_.trickle ? how_.endless : ""));
        std::size_t taken = 0;
        asio::steady_timer timer{io_};
        boost::system::error_code ec;
        std::size_t size = 0;
        for (std::size_t i = 0; how_.trickle && !ec; i = (i + 1) % all->size()) {
            std::tie(ec, size) = co_await asio::async_write(peer, asio::buffer(all->data() + i, 1), no_throw);
            count(taken += size);
            timer.expires_after(1ms);
            co_await timer.async_wait(no_throw);
        }
        if (!ec) std::tie(ec, size) = co_await asio::async_write(peer, asio::buffer(*all), no_throw);
        while (!ec && !chunk_.empty()) {
            count(taken += size);
            std::tie(ec, size) = co_await asio::async_write(peer, asio::buffer(chunk_), no_throw);
        }
        std::array<char, 1024> ignored;
        while (!ec) std::tie(ec, size) = co_await peer.async_read_some(asio::buffer(ignored), no_throw);
        ++ended_;
    }

    void count(std::size_t taken) { most_taken_ = std::max<std::size_t>(most_taken_, taken); }

    harm how_;
    std::string chunk_;
    asio::io_context io_{1};
    std::optional<asio::ssl::context> tls_;
    tcp::acceptor acceptor_;
    std::uint16_t port_;
    std::atomic<std::size_t> ended_{0};
    std::atomic<std::size_t> most_taken_{0};
    std::thread thread_;
};

hostile_server::hostile_server(harm how, std::optional<certified_key> tls) : impl_{std::make_unique<impl>(std::move(how), tls)} {}

hostile_server::~hostile_server() = default;

std::uint16_t hostile_server::port() const noexcept { return impl_->port(); }

std::size_t hostile_server::ended() const noexcept { return impl_->ended(); }

std::size_t hostile_server::most_taken() const noexcept { return impl_->most_taken(); }

}  // namespace redlock::testing
