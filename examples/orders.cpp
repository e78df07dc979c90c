// A web service that changes an order only while it holds the order's lock, on every host of the service: POST /orders/17 counts it up.
//
//   orders PORT redis-urls...
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <iostream>
#include <map>

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using namespace std::chrono_literals;

std::map<std::string, int> orders;  // in place of a database

asio::awaitable<int> change(redlock::client& nodes, std::string order)
{
    redlock::lock lock{nodes, "order:" + order, {.ttl = 5s, .acquire_timeout = 3s}};
    auto body = [&order](redlock::lease&) -> asio::awaitable<int> {
        int const read = orders[order];
        asio::steady_timer thinking{co_await asio::this_coro::executor, 2ms};
        co_await thinking.async_wait();
        co_return orders[order] = read + 1;  // a database would compare lease.token() here
    };
    co_return co_await redlock::with_lock(lock, body);
}

asio::awaitable<void> answer(tcp::socket peer, redlock::client& nodes)
{
    boost::beast::tcp_stream stream{std::move(peer)};
    stream.expires_after(10s);
    boost::beast::flat_buffer buffer;
    http::request<http::empty_body> request;
    co_await http::async_read(stream, buffer, request, asio::use_awaitable);
    http::response<http::string_body> response{http::status::ok, 10};
    try {
        int const count = co_await change(nodes, request.target());
        response.body() = std::to_string(count) + "\n";
    } catch (redlock::acquire_error const& e) {  // nothing was counted: another client has the order, or nobody can know who has it
        bool const taken = e.code() == redlock::condition::contended;
        response.result(taken ? http::status::conflict : http::status::service_unavailable);
        if (!taken) std::cerr << e.what() << std::endl;  // with the first node that did not vote, and why: not for customers
        response.body() = e.code().message() + "\n";
    } catch (redlock::scope_error const& e) {  // the lock was lost meanwhile. 503 would ask for a repetition, but it may have been counted
        response.result(http::status::internal_server_error);
        std::cerr << e.what() << std::endl;
        response.body() = e.body_returned() ? "counted without the lock\n" : "perhaps counted\n";
    }
    response.prepare_payload();
    co_await http::async_write(stream, response, asio::use_awaitable);
}

asio::awaitable<void> serve(tcp::acceptor& acceptor, redlock::client& nodes)
{
    for (;;) {
        tcp::socket peer = co_await acceptor.async_accept(asio::use_awaitable);
        asio::co_spawn(acceptor.get_executor(), answer(std::move(peer), nodes), asio::detached);
    }
}

int main(int argc, char** argv)
{
    asio::io_context io;
    tcp::acceptor acceptor{io, {asio::ip::address_v4::loopback(), static_cast<std::uint16_t>(std::stoi(argc > 1 ? argv[1] : "0"))}};
    redlock::config config = redlock::config::from_urls({argv + std::min(argc, 2), argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run([&](redlock::error_code) { io.stop(); });
    asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&](redlock::error_code, int) { nodes.cancel(); });
    asio::co_spawn(io, serve(acceptor, nodes), asio::detached);
    std::cout << "http://127.0.0.1:" << acceptor.local_endpoint().port() << "/orders/" << std::endl;
    io.run();
}
