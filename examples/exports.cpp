// At most four exports at the same time, on however many hosts: each one needs a permit, and the database refuses who has lost its own.
//
//   exports URL...
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <iostream>
#include <stdexcept>

namespace asio = boost::asio;
using namespace std::chrono_literals;

struct warehouse {
    redlock::fence_guard guard;  // a database would keep the largest token of each slot
    int exports{0};
    int running{0};
    int most_at_once{0};
};

asio::awaitable<void> export_once(redlock::client& nodes, warehouse& to)
{
    redlock::semaphore permits{nodes, "exports", {.permits = 4, .lock = {.ttl = 5s}}};
    auto body = [&](redlock::lease& permit) -> asio::awaitable<void> {
        to.most_at_once = std::max(to.most_at_once, ++to.running);
        asio::steady_timer work{co_await asio::this_coro::executor, 20ms};
        co_await work.async_wait(asio::use_awaitable);
        to.guard.run(permit.name(), permit.token(), [&] { ++to.exports; });  // the name is that of the slot: exports#0 to exports#3
        --to.running;
    };
    co_await redlock::with_lock(permits, std::ref(body));
}

int main(int argc, char** argv)
try {
    if (argc < 2) throw std::invalid_argument{"usage: exports URL..."};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    redlock::client one{io.get_executor(), config};
    redlock::client other{io.get_executor(), config};  // as if on another host
    one.run(asio::detached);
    other.run(asio::detached);

    warehouse to;
    int open = 20;
    std::exception_ptr failure;
    auto const ended = [&](std::exception_ptr e) {
        if (e) failure = e;
        if (--open > 0) return;
        one.cancel();
        other.cancel();
    };
    for (int i = 0; i < 20; ++i) asio::co_spawn(io, export_once(i % 2 == 0 ? one : other, to), ended);
    io.run();
    if (failure) std::rethrow_exception(failure);
    std::cout << to.exports << " exports, " << to.most_at_once << " at once\n";
} catch (std::exception const& e) {
    std::cerr << "exports: " << e.what() << '\n';
    return 1;
}
