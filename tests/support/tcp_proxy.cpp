#include "tcp_proxy.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/redirect_error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>
#include <boost/asio/write.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::testing {

using asio::ip::tcp;
using boost::system::error_code;
using steady = std::chrono::steady_clock;

namespace {

constexpr std::size_t max_queued_bytes = std::size_t{4} * 1024 * 1024;  // then nothing more is read

}  // namespace

// One direction of a connection: read at once, written when its time has come.
class tcp_proxy::direction {
public:
    direction(asio::io_context& io, tcp::socket& from, tcp::socket& to, traffic_rule const& rule)
        : from_{from}, to_{to}, rule_{rule}, due_{io}, room_{io}
    {
    }

    void set(traffic_rule const& rule)
    {
        rule_ = rule;
        due_.cancel();
    }

    asio::awaitable<void> read(std::shared_ptr<connection>)
    {
        std::array<char, 65'536> chunk;
        error_code ec;
        while (!ec) {
            if (queued_ > max_queued_bytes) {
                co_await wait(room_, steady::time_point::max());
                continue;
            }
            auto reading = from_.async_read_some(asio::buffer(chunk), asio::redirect_error(asio::use_awaitable, ec));
            std::size_t const size = co_await std::move(reading);
            if (!rule_.swallowed && !broken_) enqueue({chunk.data(), size});
        }
        over_ = true;
        due_.cancel();
    }

    asio::awaitable<void> write(std::shared_ptr<connection>)
    {
        while (!pieces_.empty() || !over_) {
            auto const at = pieces_.empty() || rule_.held ? steady::time_point::max() : pieces_.front().due;
            if (at > steady::now()) {
                co_await wait(due_, at);
                continue;
            }
            std::string const bytes = std::move(pieces_.front().bytes);
            pieces_.pop_front();
            queued_ -= bytes.size();
            room_.cancel();
            if (broken_) continue;
            error_code ec;
            auto writing = asio::async_write(to_, asio::buffer(bytes), asio::redirect_error(asio::use_awaitable, ec));
            co_await std::move(writing);
            if (ec) broken_ = true;  // the receiver has gone: the rest is lost
        }
        error_code ignored;  // it may be closed already
        to_.shutdown(tcp::socket::shutdown_send, ignored);
    }

    void drop()
    {
        broken_ = true;
        rule_ = {};
        due_.cancel();
        room_.cancel();
    }

private:
    struct piece {
        steady::time_point due;
        std::string bytes;
    };

    void enqueue(std::string_view bytes)
    {
        constexpr std::size_t pieces_per_second = 50;
        std::size_t const max_size = rule_.bytes_per_second == 0 ? bytes.size()
                                                                 : std::max<std::size_t>(1, rule_.bytes_per_second / pieces_per_second);
        bool const was_idle = pieces_.empty();
        for (; !bytes.empty(); bytes.remove_prefix(std::min(max_size, bytes.size()))) {
            auto const part = bytes.substr(0, max_size);
            auto due = steady::now() + rule_.delay;
            if (rule_.bytes_per_second > 0)
                due = last_due_ = std::max(due, last_due_) + std::chrono::nanoseconds{part.size() * 1'000'000'000 / rule_.bytes_per_second};
            pieces_.push_back({due, std::string{part}});
            queued_ += part.size();
        }
        if (was_idle && !pieces_.empty()) due_.cancel();
    }

    // Until then, or until somebody cancels the timer.
    static asio::awaitable<void> wait(asio::steady_timer& timer, steady::time_point until)
    {
        error_code woken;
        timer.expires_at(until);
        auto waiting = timer.async_wait(asio::redirect_error(asio::use_awaitable, woken));
        co_await std::move(waiting);
    }

    tcp::socket& from_;
    tcp::socket& to_;
    traffic_rule rule_;
    asio::steady_timer due_;
    asio::steady_timer room_;
    std::deque<piece> pieces_;
    std::size_t queued_{0};
    steady::time_point last_due_{};
    bool over_{false};
    bool broken_{false};
};

class tcp_proxy::connection : public std::enable_shared_from_this<connection> {
public:
    connection(asio::io_context& io, tcp::socket near, link_rule const& rule)
        : io_{io},
          near_{std::move(near)},
          far_{io},
          to_server_{io, near_, far_, rule.to_server},
          to_client_{io, far_, near_, rule.to_client}
    {
    }

    tcp::socket& far() noexcept { return far_; }

    // Each of the four coroutines keeps this alive; the sockets close with the last.
    void start()
    {
        near_.set_option(tcp::no_delay{true});
        far_.set_option(tcp::no_delay{true});
        for (auto* way : {&to_server_, &to_client_}) {
            asio::co_spawn(io_, way->read(shared_from_this()), asio::detached);
            asio::co_spawn(io_, way->write(shared_from_this()), asio::detached);
        }
    }

    void set(link_rule const& rule)
    {
        to_server_.set(rule.to_server);
        to_client_.set(rule.to_client);
    }

    void cut()
    {
        error_code ignored;
        near_.close(ignored);
        far_.close(ignored);
        to_server_.drop();
        to_client_.drop();
    }

private:
    asio::io_context& io_;
    tcp::socket near_;
    tcp::socket far_;
    direction to_server_;
    direction to_client_;
};

tcp_proxy::tcp_proxy(std::vector<std::uint16_t> const& servers, asio::ip::address const& address)
{
    for (auto const server : servers) {
        auto& at = gates_.emplace_back(gate{server, tcp::acceptor{io_, tcp::endpoint{address, 0}}, {}, {}});
        ports_.push_back(at.acceptor.local_endpoint().port());
        asio::co_spawn(io_, listen(at), asio::detached);
    }
    thread_ = std::jthread{[this] { io_.run(); }};
}

tcp_proxy::~tcp_proxy()
{
    io_.stop();
    thread_.join();
}

void tcp_proxy::set(std::size_t server, link_rule const& rule)
{
    asio::post(io_, [this, server, rule] {
        gates_[server].rule = rule;
        for (auto const& weak : gates_[server].connections)
            if (auto const pair = weak.lock()) pair->set(rule);
    });
}

void tcp_proxy::set_all(link_rule const& rule)
{
    for (std::size_t i = 0; i < gates_.size(); ++i) set(i, rule);
}

void tcp_proxy::redirect(std::size_t server, std::uint16_t to)
{
    asio::post(io_, asio::use_future([this, server, to] { gates_[server].server = to; })).get();
}

std::vector<steady::time_point> tcp_proxy::connects(std::size_t server)
{
    return asio::post(io_, asio::use_future([this, server] { return gates_[server].connects; })).get();
}

void tcp_proxy::forget(std::size_t server)
{
    asio::post(io_, [this, server] {
        for (auto const& weak : gates_[server].connections)
            if (auto const pair = weak.lock()) pair->set({.to_server = {.swallowed = true}, .to_client = {.swallowed = true}});
    });
}

void tcp_proxy::cut(std::size_t server)
{
    asio::post(io_, [this, server] {
        for (auto const& weak : gates_[server].connections)
            if (auto const pair = weak.lock()) pair->cut();
    });
}

asio::awaitable<void> tcp_proxy::listen(gate& at)
{
    for (;;) {
        auto accepting = at.acceptor.async_accept(asio::use_awaitable);
        auto pair = std::make_shared<connection>(io_, co_await std::move(accepting), at.rule);
        at.connects.push_back(steady::now());
        std::erase_if(at.connections, [](auto const& weak) { return weak.expired(); });
        at.connections.push_back(pair);
        asio::co_spawn(io_, connect(at, std::move(pair)), asio::detached);
    }
}

// A server that is not there: the client's connection closes.
asio::awaitable<void> tcp_proxy::connect(gate& at, std::shared_ptr<connection> pair)
{
    error_code ec;
    auto connecting = pair->far().async_connect({asio::ip::address_v4::loopback(), at.server},
                                                asio::redirect_error(asio::use_awaitable, ec));
    co_await std::move(connecting);
    if (ec) co_return;
    pair->set(at.rule);  // it may be another one meanwhile
    pair->start();
}

}  // namespace redlock::testing
