// Several resources, all or none, in any order, by many at once: no two callers wait for each other.
//
//   several URL...
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <exception>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

std::map<std::string, int> balance{{"alice", 100}, {"bob", 100}, {"carol", 100}};

// Both accounts are locked by one message to each node, and have one token, which is larger than all earlier ones of either.
asio::awaitable<void> transfer(redlock::client& nodes, std::string from, std::string to, int amount)
{
    redlock::lock both{nodes, {"account:" + from, "account:" + to}, {.ttl = 5s}};
    auto body = [&](redlock::lease&) -> asio::awaitable<void> {
        int const had = balance[from];
        int const has = balance[to];
        asio::steady_timer booking{co_await asio::this_coro::executor, 1ms};
        co_await booking.async_wait();
        balance[from] = had - amount;
        balance[to] = has + amount;
    };
    co_await redlock::with_lock(both, body);
}

int main(int argc, char** argv)
try {
    if (argc < 2) throw std::invalid_argument{"usage: several URL..."};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);

    int open = 30;
    std::exception_ptr failure;
    auto const ended = [&](std::exception_ptr e) {
        if (e) failure = e;
        if (--open == 0) nodes.cancel();
    };
    for (int i = 0; i < 10; ++i) {
        asio::co_spawn(io, transfer(nodes, "alice", "bob", 3), ended);
        asio::co_spawn(io, transfer(nodes, "bob", "carol", 2), ended);
        asio::co_spawn(io, transfer(nodes, "carol", "alice", 1), ended);
    }
    io.run();
    if (failure) std::rethrow_exception(failure);
    for (auto const& [name, amount] : balance) std::cout << name << ' ' << amount << '\n';
} catch (std::exception const& e) {
    std::cerr << "several: " << e.what() << '\n';
    return 1;
}
