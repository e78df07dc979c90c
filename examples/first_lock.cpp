// A critical section: the watchdog keeps the lease alive, and if it cannot, the body is cancelled before the lease ends.
//
//   first_lock redis://host:port [redis://host:port ...]
#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <chrono>
#include <cstdint>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> write_report(std::uint64_t token)
{
    asio::steady_timer work{co_await asio::this_coro::executor, 500ms};
    co_await work.async_wait();
    std::cout << "report written, with token " << token << '\n';
}

asio::awaitable<void> nightly_report(redlock::client& nodes)
{
    redlock::lock lock{nodes, "reports:nightly", {.ttl = 10s}};

    auto body = [](redlock::lease& lease) -> asio::awaitable<void> {
        co_await write_report(lease.token());  // as long as it takes: the watchdog extends the lease
    };                                         // and if it cannot, this is cancelled before somebody else may start
    co_await redlock::with_lock(lock, body);
}

int main(int argc, char** argv)
{
    std::vector<std::string> const urls(argv + 1, argv + argc);
    std::exception_ptr failure;
    try {
        asio::io_context io;
        redlock::config config = redlock::config::from_urls(urls);
        config.bootstrap = true;  // nothing was ever locked on these nodes: no need to wait for leases that they may have forgotten
        redlock::client nodes{io.get_executor(), config};
        nodes.run(asio::detached);
        asio::co_spawn(io, nightly_report(nodes), [&](std::exception_ptr e) {
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
