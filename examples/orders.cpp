// A web service that changes an order only while it holds the order's lock, on every host of the service: POST /orders/17 counts it up.
// GET /ready answers 200 while a majority of the nodes has a vote. On SIGTERM it answers the requests that have begun, releases all locks, and ends.
//
//   orders PORT URL...
//   PORT=8080 REDLOCK_NODES=URL,URL,URL orders        in a container
#include <redlock/redlock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

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

// A number of up to nine digits behind /orders/; otherwise empty. Each name that is locked costs the nodes memory for a while, so customers do not choose
// any name.
std::string order_in(std::string_view path)
{
    constexpr std::string_view before = "/orders/";
    if (!path.starts_with(before)) return {};
    path.remove_prefix(before.size());
    bool const is_number = path.size() <= 9 && std::all_of(path.begin(), path.end(), [](char c) { return '0' <= c && c <= '9'; });
    return is_number ? std::string{path} : std::string{};
}

bool is_ready(redlock::client const& nodes)
{
    auto const all = nodes.status().nodes;
    auto const votes = [](redlock::node_status const& n) {
        return n.state == redlock::node_state::usable && n.admission == redlock::admission_state::admitted;
    };
    return 2 * std::count_if(all.begin(), all.end(), votes) > std::ssize(all);
}

asio::awaitable<void> post(http::response<http::string_body>& response, redlock::client& nodes, std::string order)
{
    try {
        int const count = co_await change(nodes, std::move(order));
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
}

asio::awaitable<void> answer(tcp::socket peer, redlock::client& nodes)
{
    boost::beast::tcp_stream stream{std::move(peer)};
    stream.expires_after(10s);
    boost::beast::flat_buffer buffer;
    http::request<http::empty_body> request;
    co_await http::async_read(stream, buffer, request, asio::use_awaitable);
    http::response<http::string_body> response{http::status::ok, 10};
    std::string const order = order_in(request.target());
    if (request.method() == http::verb::get && request.target() == "/ready") {
        if (!is_ready(nodes)) response.result(http::status::service_unavailable);
    } else if (order.empty()) {
        response.result(http::status::not_found);
    } else if (request.method() != http::verb::post) {
        response.result(http::status::method_not_allowed);
    } else {
        co_await post(response, nodes, order);
    }
    response.prepare_payload();
    co_await http::async_write(stream, response, asio::use_awaitable);
}

asio::awaitable<void> serve(tcp::acceptor& acceptor, redlock::client& nodes)
{
    auto const executor = acceptor.get_executor();
    asio::steady_timer pause{executor}, idle{executor, asio::steady_timer::time_point::max()};
    int open = 0;
    while (acceptor.is_open()) {
        redlock::error_code error;
        tcp::socket peer{executor};
        std::tie(error, peer) = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
        if (error) {  // it was closed, or this process has no descriptors left
            pause.expires_after(100ms);
            co_await pause.async_wait(asio::use_awaitable);
            continue;
        }
        ++open;
        asio::co_spawn(executor, answer(std::move(peer), nodes), [&](std::exception_ptr) {  // a customer who hangs up is no matter
            if (--open == 0) idle.cancel_one();
        });
    }
    while (open > 0) co_await idle.async_wait(asio::as_tuple(asio::use_awaitable));
    co_await nodes.drain();
    nodes.cancel();
}

std::vector<std::string> settings(int argc, char** argv)
{
    if (argc > 2) return {argv + 1, argv + argc};
    char const *const port = std::getenv("PORT"), *const nodes = std::getenv("REDLOCK_NODES");
    if (argc > 1 || !port || !nodes)
        throw std::invalid_argument{"usage: orders PORT URL... (or PORT and REDLOCK_NODES in the environment)"};
    std::vector<std::string> all{port};
    std::istringstream urls{nodes};
    for (std::string url; std::getline(urls, url, ',');) all.push_back(url);
    return all;
}

int main(int argc, char** argv)
try {
    auto const given = settings(argc, argv);
    asio::io_context io;
    tcp::acceptor acceptor{io, {asio::ip::address_v4::any(), static_cast<std::uint16_t>(std::stoi(given.front()))}};
    redlock::config config = redlock::config::from_urls({given.begin() + 1, given.end()});
    redlock::client nodes{io.get_executor(), config};
    nodes.run([&](redlock::error_code) { io.stop(); });
    nodes.begin_admission();  // so that it is ready before the first order
    asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&](redlock::error_code, int) { acceptor.close(); });
    asio::co_spawn(io, serve(acceptor, nodes), [](std::exception_ptr e) {
        if (e) std::rethrow_exception(e);
    });
    std::cout << "http://127.0.0.1:" << acceptor.local_endpoint().port() << "/orders/" << std::endl;
    io.run();
} catch (std::exception const& e) {
    std::cerr << "orders: " << e.what() << '\n';
    return 1;
}
