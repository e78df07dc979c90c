// In a program of threads that wait: the client has a thread of its own, and others ask it for futures.
//
//   futures URL...
#include <redlock/redlock.hpp>

#include <boost/asio/thread_pool.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>
#include <future>
#include <iostream>
#include <stdexcept>
#include <thread>
#include <vector>

namespace asio = boost::asio;
using namespace std::chrono_literals;

int main(int argc, char** argv)
try {
    if (argc < 2) throw std::invalid_argument{"usage: futures URL..."};
    asio::thread_pool network{1};  // so that no work of ours keeps the watchdog from its own
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    redlock::client nodes{network.get_executor(), config};
    std::future<void> stopped = nodes.run(asio::use_future);

    int visits = 0;  // not atomic: the lock is enough
    auto const visit = [&] {
        redlock::lock const lock{nodes, "visits", {.ttl = 10s}};
        for (int i = 0; i < 25; ++i) {
            redlock::lease lease = lock.acquire(asio::use_future).get();
            ++visits;
            lease.release(asio::use_future).get();
        }
    };
    std::vector<std::future<void>> visitors;
    for (int i = 0; i < 4; ++i) visitors.push_back(std::async(std::launch::async, visit));
    for (auto& v : visitors) v.get();
    std::cout << visits << " visits\n";

    nodes.cancel();
    stopped.wait();
} catch (std::exception const& e) {
    std::cerr << "futures: " << e.what() << '\n';
    return 1;
}
