#include "loop.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace bench {

asio::awaitable<void> pause(std::chrono::nanoseconds d)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, d};
    auto wait = timer.async_wait(asio::use_awaitable);
    co_await std::move(wait);
}

asio::awaitable<void> wait_until_usable(redlock::client const& nodes)
{
    auto const is_usable = [](redlock::node_status const& n) { return n.state == redlock::node_state::usable; };
    auto const end = steady::now() + 30s;
    for (;;) {
        auto const all = nodes.status().nodes;
        if (std::ranges::all_of(all, is_usable)) co_return;
        if (steady::now() > end) throw std::runtime_error{"the nodes did not become usable"};
        auto waiting = pause(5ms);
        co_await std::move(waiting);
    }
}

void run_for(asio::io_context& io, std::chrono::nanoseconds d)
{
    asio::steady_timer end{io, d};
    end.async_wait([&](redlock::error_code) { io.stop(); });
    io.run();
    io.restart();
}

void run_until_usable(asio::io_context& io, redlock::client const& nodes)
{
    auto connect = [&]() -> asio::awaitable<void> {
        auto connecting = wait_until_usable(nodes);
        co_await std::move(connecting);
        io.stop();
    };
    asio::co_spawn(io, connect(), rethrow);
    io.run();
    io.restart();
}

std::chrono::nanoseconds to_duration(double seconds)
{
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{seconds});
}

}  // namespace bench
