// A job that is begun in one process and finished in another, under one lock all the time: the first detaches its lease, and the second adopts it.
//
//   travelling begin URL...            prints a ticket
//   travelling finish TICKET URL...
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

#include <exception>
#include <iostream>
#include <string>

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<void> begin(redlock::client& nodes)
{
    redlock::lock lock{nodes, "import", {.ttl = 20s}};
    redlock::lease lease = co_await lock.acquire();
    std::cerr << "begins with token " << lease.token() << '\n';
    // From here on nobody extends it: the other process has what is left of 20 seconds to adopt it.
    std::cout << lease.detach() << std::endl;
}

asio::awaitable<void> finish(redlock::client& nodes, std::string ticket)
{
    redlock::lease lease = co_await nodes.adopt(ticket);  // throws lease_lost if it is over, or somebody else has adopted it
    std::cout << "finishes with token " << lease.token() << std::endl;
    co_await lease.release();
}

int main(int argc, char** argv)
try {
    bool const begins = argc > 1 && std::string{argv[1]} == "begin";
    int const urls = begins ? 2 : 3;
    if (argc <= urls) throw std::invalid_argument{"usage: travelling begin URL... | travelling finish TICKET URL..."};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + urls, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);
    std::exception_ptr failure;
    asio::co_spawn(io, begins ? begin(nodes) : finish(nodes, argv[2]), [&](std::exception_ptr e) {
        failure = e;
        nodes.cancel();
    });
    io.run();
    if (failure) std::rethrow_exception(failure);
} catch (std::exception const& e) {
    std::cerr << "travelling: " << e.what() << '\n';
    return 1;
}
