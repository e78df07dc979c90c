// A critical section: the lease is extended while the body runs, and if it cannot be, the body is cancelled before the lease ends.
//
//   first_lock URL...
#include <redlock/redlock.hpp>

#include <boost/asio.hpp>

#include <exception>
#include <iostream>

namespace asio = boost::asio;

asio::awaitable<void> nightly_report(redlock::config config)
{
    auto executor = co_await asio::this_coro::executor;
    redlock::client client{executor, config};
    client.run(asio::detached);  // until the client is destroyed
    redlock::lock lock{client, "reports:nightly"};
    auto body = [](redlock::lease& lease) -> asio::awaitable<void> {
        std::cout << "locked, with fencing token " << lease.token() << '\n';
        co_return;  // your work, for as long as it takes
    };
    co_await redlock::with_lock(lock, body);
}

int main(int argc, char** argv)
try {
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    asio::io_context io;
    auto done = asio::co_spawn(io, nightly_report(config), asio::use_future);
    io.run();
    done.get();
} catch (std::exception const& e) {
    std::cerr << "first_lock: " << e.what() << '\n';
    return 1;
}
