// Long work in a scope, which notices in time that its lock is about to be lost, and puts things in order before somebody else has it.
//
//   scope STEPS URL...      a step takes 100 ms
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>

#include <exception>
#include <iostream>
#include <stdexcept>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// Any operation of Asio ends with operation_aborted when the scope is cancelled; what is caught here has `stop_margin` (200 ms) to finish.
asio::awaitable<void> migrate(redlock::lease& lease, int steps)
{
    asio::steady_timer step{co_await asio::this_coro::executor};
    int done = 0;
    try {
        for (; done < steps; ++done) {
            step.expires_after(100ms);
            co_await step.async_wait();
            std::cout << "step " << done + 1 << std::endl;
        }
    } catch (boost::system::system_error const& e) {
        if (e.code() != asio::error::operation_aborted) throw;
        std::cout << "stopped after " << done << " steps, " << (lease.valid_until() > redlock::boot_clock::now() ? "in time" : "too late")
                  << std::endl;
        throw;
    }
}

asio::awaitable<void> run(redlock::client& nodes, int steps)
{
    redlock::lock lock{nodes, "migration", {.ttl = 2s, .acquire_timeout = 10s, .extend_interval = 500ms, .stop_margin = 200ms}};
    auto body = [steps](redlock::lease& lease) -> asio::awaitable<void> { co_await migrate(lease, steps); };
    co_await redlock::with_lock(lock, body);
    std::cout << "migrated" << std::endl;
}

int main(int argc, char** argv)
try {
    if (argc < 3) throw std::invalid_argument{"usage: scope STEPS URL..."};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 2, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);
    std::exception_ptr failure;
    asio::co_spawn(io, run(nodes, std::stoi(argv[1])), [&](std::exception_ptr e) {
        failure = e;
        nodes.cancel();
    });
    io.run();
    if (failure) std::rethrow_exception(failure);
} catch (std::exception const& e) {
    std::cerr << "scope: " << e.what() << '\n';  // "the lease was lost"
    return 1;
}
