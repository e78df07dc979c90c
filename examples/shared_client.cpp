// One client for all coroutines of a service with many threads.
//
//   shared_client URL...
#include <redlock/redlock.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>
#include <future>
#include <iostream>
#include <stdexcept>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

// A lock may be used by any number of coroutines, wherever they run: those of one client wait in a queue, and the lease is handed from one to
// the next without a message.
asio::awaitable<void> visit(redlock::lock const& lock, int& visits, int times)
{
    for (int i = 0; i < times; ++i) {
        auto body = [&visits](redlock::lease&) -> asio::awaitable<void> {
            ++visits;
            co_return;
        };
        co_await redlock::with_lock(lock, body);
    }
}

int main(int argc, char** argv)
try {
    if (argc < 2) throw std::invalid_argument{"usage: shared_client URL..."};
    asio::thread_pool threads{4};
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    redlock::client nodes{threads.get_executor(), config};
    nodes.run(asio::detached);

    int visits = 0;  // not atomic: the lock is enough
    redlock::lock const lock{nodes, "visits", {.ttl = 10s}};
    std::vector<std::future<void>> visitors;
    for (int i = 0; i < 20; ++i) visitors.push_back(asio::co_spawn(threads, visit(lock, visits, 50), asio::use_future));
    for (auto& v : visitors) v.get();
    auto const seen = nodes.status().counters;
    std::cout << visits << " visits, " << seen.handoffs << " of them without a message\n";
    nodes.cancel();
    threads.join();
} catch (std::exception const& e) {
    std::cerr << "shared_client: " << e.what() << '\n';
    return 1;
}
