// A program in a project of its own, as docs/building.md has it: takes a lock on the nodes that it is told.
//
//   first_lock redis://host:port [redis://host:port ...]
#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> critical_section(redlock::client& nodes)
{
    redlock::lock lock{nodes, "reports:nightly", {.acquire_timeout = 1s}};

    auto body = [](redlock::lease& lease) -> asio::awaitable<void> {
        std::cout << "locked, with token " << lease.token() << '\n';
        co_return;
    };
    co_await redlock::with_lock(lock, body);
}

int main(int argc, char** argv)
{
    try {
        asio::io_context io;
        redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
        redlock::client nodes{io.get_executor(), config};
        nodes.run(asio::detached);

        std::exception_ptr failure;
        asio::co_spawn(io, critical_section(nodes), [&](std::exception_ptr e) {
            failure = e;
            nodes.cancel();
        });
        io.run();
        if (failure) std::rethrow_exception(failure);
    } catch (std::exception const& e) {
        std::cerr << "first_lock: " << e.what() << '\n';
        return 1;
    }
}
