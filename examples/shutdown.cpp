// SIGTERM: takes no more work, lets what has begun end, waits until the nodes have all locks back, and goes.
//
//   shutdown URL...
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct service {
    redlock::client& nodes;
    int working{0};
    bool closing{false};

    asio::awaitable<void> work(std::string resource)
    {
        redlock::lock lock{nodes, resource, {.ttl = 10s, .acquire_timeout = 5s}};
        asio::steady_timer pause{co_await asio::this_coro::executor};
        while (!closing) {
            auto body = [this](redlock::lease&) -> asio::awaitable<void> {
                if (closing) co_return;  // it has waited for the lock meanwhile
                asio::steady_timer task{co_await asio::this_coro::executor, 200ms};
                co_await task.async_wait();
            };
            bool failed = false;
            try {
                co_await redlock::with_lock(lock, body);
            } catch (redlock::system_error const& e) {  // no lock within 5 s, or it was lost: the task is begun again
                std::cerr << e.what() << std::endl;
                failed = true;
            }
            pause.expires_after(failed ? 1s : 0s);
            co_await pause.async_wait();
        }
        if (--working == 0) co_await leave();
    }

    // Nobody waits for what is left of the ttl when this process is gone.
    asio::awaitable<void> leave()
    {
        co_await nodes.drain();
        std::cout << "all released" << std::endl;
        nodes.cancel();
    }
};

int main(int argc, char** argv)
try {
    if (argc < 2) throw std::invalid_argument{"usage: shutdown URL..."};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);
    service all{nodes};
    for (int i = 0; i < 5; ++i, ++all.working)
        asio::co_spawn(io, all.work("task:" + std::to_string(i)), [](std::exception_ptr e) {
            if (e) std::rethrow_exception(e);
        });
    asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&](redlock::error_code, int) {
        std::cout << "closing" << std::endl;
        all.closing = true;
    });
    std::cout << "ready" << std::endl;
    io.run();
} catch (std::exception const& e) {
    std::cerr << "shutdown: " << e.what() << '\n';
    return 1;
}
