// A service that says what its locks are doing: a log on standard error, and metrics for Prometheus at /metrics.
//
//   observing PORT URL...
#include <redlock/json_log.hpp>
#include <redlock/prometheus.hpp>
#include <redlock/redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <exception>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;

asio::awaitable<void> answer(tcp::socket peer, redlock::prometheus const& metrics)
{
    boost::beast::tcp_stream stream{std::move(peer)};
    stream.expires_after(10s);
    boost::beast::flat_buffer buffer;
    http::request<http::empty_body> request;
    co_await http::async_read(stream, buffer, request, asio::use_awaitable);

    bool const known = request.method() == http::verb::get && request.target() == "/metrics";
    http::response<http::string_body> response{known ? http::status::ok : http::status::not_found, 10};
    response.set(http::field::content_type, redlock::prometheus::content_type);
    if (known) response.body() = metrics.text();
    response.prepare_payload();
    co_await http::async_write(stream, response, asio::use_awaitable);  // and hang up, as HTTP/1.0 does
}

asio::awaitable<void> serve(tcp::acceptor& acceptor, redlock::prometheus const& metrics)
{
    for (;;) {
        tcp::socket peer = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(acceptor.get_executor(), answer(std::move(peer), metrics), asio::detached);  // a client that hangs up is no matter
    }
}

asio::awaitable<void> work(redlock::client& nodes)
{
    redlock::lock lock{nodes, "reports:hourly", {.ttl = 10s}};
    asio::steady_timer timer{co_await asio::this_coro::executor};
    for (;;) {
        redlock::error_code error;
        redlock::lease lease;
        std::tie(error, lease) = co_await lock.acquire(asio::as_tuple(asio::use_awaitable));
        if (error == redlock::errc::client_cancelled) co_return;
        timer.expires_after(error ? 1s : 100ms);  // a pause before the next attempt, or the report
        co_await timer.async_wait(asio::use_awaitable);
    }
}

int main(int argc, char** argv)
try {
    if (argc < 3) throw std::invalid_argument{"usage: observing PORT URL..."};
    asio::io_context io;
    tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(std::stoi(argv[1]))}};
    auto const metrics = std::make_shared<redlock::prometheus>();
    std::vector<std::shared_ptr<redlock::observer>> const both{metrics, std::make_shared<redlock::json_log>(std::cerr)};
    redlock::config config = redlock::config::from_urls({argv + 2, argv + argc});
    redlock::client nodes{io.get_executor(), config, std::make_shared<redlock::observers>(both)};
    nodes.run([&](redlock::error_code) { io.stop(); });
    asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&](redlock::error_code, int) { nodes.cancel(); });
    auto const failed = [](std::exception_ptr e) {  // none of the two ends unseen
        if (e) std::rethrow_exception(e);
    };
    asio::co_spawn(io, work(nodes), failed);
    asio::co_spawn(io, serve(acceptor, *metrics), failed);
    std::cout << "http://127.0.0.1:" << acceptor.local_endpoint().port() << "/metrics" << std::endl;
    io.run();
} catch (std::exception const& e) {
    std::cerr << "observing: " << e.what() << '\n';
    return 1;
}
