// One leader at a time among many processes: it leads as long as it can prove it, steps down in time when it cannot, and stands again.
//
//   leader NAME URL...
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

asio::awaitable<void> lead(std::string const& who, redlock::lease& lease)
{
    std::cout << who << " leads, with token " << lease.token() << std::endl;
    try {
        asio::steady_timer beat{co_await asio::this_coro::executor};
        for (;;) {
            beat.expires_after(50ms);
            co_await beat.async_wait();  // the work of a leader; every write of it carries the token
        }
    } catch (boost::system::system_error const&) {  // NOLINT(bugprone-empty-catch): a lost lease, or the end of the process
    }
    std::cout << who << " steps down, " << (lease.valid_until() > redlock::boot_clock::now() ? "in time" : "too late") << std::endl;
}

// Two seconds without the nodes, less 400 ms for stepping down, end a leadership; until then the watchdog prolongs it.
asio::awaitable<void> campaign(redlock::client& nodes, std::string who)
{
    redlock::lock lock{nodes, "leader", {.ttl = 2s, .extend_interval = 500ms, .stop_margin = 400ms}};
    asio::steady_timer pause{co_await asio::this_coro::executor};
    for (;;) {
        auto body = [&who](redlock::lease& lease) -> asio::awaitable<void> { co_await lead(who, lease); };
        try {
            co_await redlock::with_lock(lock, body);
        } catch (redlock::system_error const& e) {
            if (e.code() == redlock::errc::client_cancelled) co_return;
            std::cout << who << ": " << e.what() << std::endl;
        }
        pause.expires_after(500ms);  // an error may come at once, again and again
        co_await pause.async_wait();
    }
}

int main(int argc, char** argv)
try {
    if (argc < 3) throw std::invalid_argument{"usage: leader NAME URL..."};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 2, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);
    asio::signal_set signals{io, SIGINT, SIGTERM};
    signals.async_wait([&](redlock::error_code, int) { nodes.cancel(); });  // gives the lock back: the next one leads at once
    asio::co_spawn(io, campaign(nodes, argv[1]), [&](std::exception_ptr) { signals.cancel(); });
    io.run();
} catch (std::exception const& e) {
    std::cerr << "leader: " << e.what() << '\n';
    return 1;
}
