// A cache that many read and one fills anew: readers hold the lock together, the one that refills it alone, and reads on without letting anybody write in
// between.
//
//   rw_lock URL...
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

struct catalogue {
    int edition{0};
    int pages{0};  // ten for each edition
    int reading{0};
    int most_at_once{0};
};

asio::awaitable<void> read(redlock::client& nodes, catalogue& cache)
{
    redlock::rw_lock lock{nodes, "catalogue", {.ttl = 5s}};
    auto body = [&](redlock::lease&) -> asio::awaitable<void> {
        cache.most_at_once = std::max(cache.most_at_once, ++cache.reading);
        int const edition = cache.edition;
        asio::steady_timer reading{co_await asio::this_coro::executor, 20ms};
        co_await reading.async_wait(asio::use_awaitable);
        if (cache.pages != 10 * edition) std::cout << "half an edition\n";
        --cache.reading;
    };
    co_await redlock::with_shared_lock(lock, std::ref(body));
}

asio::awaitable<void> refill(redlock::client& nodes, catalogue& cache)
{
    redlock::rw_lock lock{nodes, "catalogue", {.ttl = 5s}};
    auto body = [&](redlock::lease& lease) -> asio::awaitable<void> {
        asio::steady_timer writing{co_await asio::this_coro::executor};
        int const edition = ++cache.edition;
        for (int page = 0; page < 10; ++page) {
            writing.expires_after(1ms);
            co_await writing.async_wait(asio::use_awaitable);
            ++cache.pages;
        }
        co_await lease.downgrade(asio::use_awaitable);  // others may read from here on, and nobody writes before this scope ends
        if (cache.edition == edition) std::cout << "edition " << edition << ", " << cache.pages << " pages\n";
    };
    co_await redlock::with_lock(lock, std::ref(body));
}

int main(int argc, char** argv)
try {
    if (argc < 2) throw std::invalid_argument{"usage: rw_lock URL..."};
    asio::io_context io;
    redlock::config config = redlock::config::from_urls({argv + 1, argv + argc});
    redlock::client nodes{io.get_executor(), config};
    nodes.run(asio::detached);

    catalogue cache;
    int open = 2 * (10 + 1);  // readers and writers below
    std::exception_ptr failure;
    auto const ended = [&](std::exception_ptr e) {
        if (e) failure = e;
        if (--open == 0) nodes.cancel();
    };
    for (int i = 0; i < 2; ++i) {
        for (int k = 0; k < 10; ++k) asio::co_spawn(io, read(nodes, cache), ended);
        asio::co_spawn(io, refill(nodes, cache), ended);
    }
    io.run();
    if (failure) std::rethrow_exception(failure);
    std::cout << (cache.most_at_once > 1 ? "several read at once\n" : "nobody read beside another one\n");
} catch (std::exception const& e) {
    std::cerr << "rw_lock: " << e.what() << '\n';
    return 1;
}
