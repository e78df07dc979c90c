#include "delay_proxy.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <memory>

namespace bench {

using asio::ip::tcp;

namespace {

// One direction of a connection: read at once, written when its time has come.
class direction : public std::enable_shared_from_this<direction> {
public:
    direction(std::shared_ptr<tcp::socket> from, std::shared_ptr<tcp::socket> to, std::chrono::nanoseconds delay)
        : from_{std::move(from)}, to_{std::move(to)}, delay_{delay}, timer_{from_->get_executor()}
    {
    }

    void start()
    {
        asio::co_spawn(from_->get_executor(), read(shared_from_this()), asio::detached);
        asio::co_spawn(from_->get_executor(), write(shared_from_this()), asio::detached);
    }

private:
    struct piece {
        steady::time_point due;
        std::string bytes;
    };

    // An exception ends both coroutines, and closes both sockets.
    asio::awaitable<void> read(std::shared_ptr<direction>)
    {
        std::array<char, 65'536> chunk;
        boost::system::error_code ec;
        while (!ec) {
            auto reading = from_->async_read_some(asio::buffer(chunk), asio::redirect_error(asio::use_awaitable, ec));
            std::size_t const size = co_await std::move(reading);
            if (size > 0) pieces_.push_back({steady::now() + delay_, std::string{chunk.data(), size}});
            if (pieces_.size() == 1 || ec) wake();
        }
        over_ = true;
        wake();
    }

    asio::awaitable<void> write(std::shared_ptr<direction>)
    {
        boost::system::error_code ec;
        while (!ec && !(over_ && pieces_.empty())) {
            boost::system::error_code woken;
            timer_.expires_at(pieces_.empty() ? steady::time_point::max() : pieces_.front().due);
            auto waiting = timer_.async_wait(asio::redirect_error(asio::use_awaitable, woken));
            co_await std::move(waiting);
            while (!ec && !pieces_.empty() && pieces_.front().due <= steady::now()) {
                std::string const bytes = std::move(pieces_.front().bytes);
                pieces_.pop_front();
                auto writing = asio::async_write(*to_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, ec));
                co_await std::move(writing);
            }
        }
        from_->close(ec);
        to_->close(ec);
    }

    void wake() { timer_.cancel(); }

    std::shared_ptr<tcp::socket> from_;
    std::shared_ptr<tcp::socket> to_;
    std::chrono::nanoseconds delay_;
    asio::steady_timer timer_;
    std::deque<piece> pieces_;
    bool over_{false};
};

}  // namespace

delay_proxy::delay_proxy(bench::ports const& servers, std::chrono::nanoseconds each_way) : each_way_{each_way}
{
    for (auto const server : servers) {
        acceptors_.emplace_back(io_, tcp::endpoint{asio::ip::address_v4::loopback(), 0});
        ports_.push_back(acceptors_.back().local_endpoint().port());
        asio::co_spawn(io_, listen(acceptors_.size() - 1, server), asio::detached);
    }
    thread_ = std::jthread{[this] { io_.run(); }};
}

delay_proxy::~delay_proxy()
{
    io_.stop();
    thread_.join();
}

asio::awaitable<void> delay_proxy::listen(std::size_t index, std::uint16_t server)
{
    for (;;) {
        auto accepting = acceptors_[index].async_accept(asio::use_awaitable);
        auto const near = std::make_shared<tcp::socket>(co_await std::move(accepting));
        auto const far = std::make_shared<tcp::socket>(io_);
        auto connecting = far->async_connect({asio::ip::address_v4::loopback(), server}, asio::use_awaitable);
        co_await std::move(connecting);
        near->set_option(tcp::no_delay{true});
        far->set_option(tcp::no_delay{true});
        std::make_shared<direction>(near, far, each_way_)->start();
        std::make_shared<direction>(far, near, each_way_)->start();
    }
}

}  // namespace bench
