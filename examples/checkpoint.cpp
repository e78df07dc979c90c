// A job that goes on where the one before it was, on whatever host that ran: each publishes with the lock how far it got, and the next one inherits it.
//
//     checkpoint ROWS URL...
#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> work(redlock::client& nodes, int rows)
{
    redlock::lock lock{nodes, "import", {.ttl = 5s}};
    auto body = [rows](redlock::lease& held) -> asio::awaitable<void> {
        redlock::published_state const before = co_await held.inherited();
        int const first = before ? std::stoi(before.value) : 0;
        std::cout << "goes on at row " << first << '\n';
        for (int row = first; row < first + rows; ++row) {
            // ... import the row, with held.token(): this may be done twice, if the next line does not come to its end.
            co_await held.publish(std::to_string(row + 1));
        }
    };
    co_await redlock::with_lock(lock, body);
}

int main(int argc, char** argv)
try {
    if (argc < 3) throw std::invalid_argument{"usage: checkpoint ROWS URL..."};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 2, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);
    std::exception_ptr failure;
    asio::co_spawn(io, work(nodes, std::stoi(argv[1])), [&](std::exception_ptr e) {
        failure = e;
        nodes.cancel();
    });
    io.run();
    if (failure) std::rethrow_exception(failure);
} catch (std::exception const& e) {
    std::cerr << "checkpoint: " << e.what() << '\n';
    return 1;
}
