#include "worker.hpp"

namespace asio = boost::asio;
using namespace std::chrono_literals;

asio::awaitable<int> work(redlock::client& nodes, int steps, sleep_function sleep)
{
    redlock::lock lock{nodes, "worker", {.ttl = 5s}};
    int done = 0;
    auto body = [&](redlock::lease&) -> asio::awaitable<void> {
        for (; done < steps; ++done) co_await sleep(1s);
    };
    try {
        co_await redlock::with_lock(lock, body);
    } catch (boost::system::system_error const& e) {
        if (e.code() != redlock::condition::lost) throw;
    }
    co_return done;
}
