// Waiting inside a test's coroutine, always with an end.
#ifndef REDLOCK_TESTS_INTEGRATION_WAITING_HPP
#define REDLOCK_TESTS_INTEGRATION_WAITING_HPP

#include <redlock/clock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <utility>

namespace redlock::testing {

namespace asio = boost::asio;
using namespace std::chrono_literals;

/// For tests whose subject is real time. Everything else waits for what it needs: `eventually`.
inline asio::awaitable<void> pause(std::chrono::nanoseconds d)
{
    asio::steady_timer timer{co_await asio::this_coro::executor, d};
    co_await timer.async_wait(asio::use_awaitable);
}

/// Asks every few milliseconds until the answer is yes (returns true) or `limit` has passed (returns the last answer).
template <class Question>
asio::awaitable<bool> eventually(Question question, std::chrono::nanoseconds limit = 20s)
{
    asio::steady_timer timer{co_await asio::this_coro::executor};
    auto const end = boot_clock::now() + limit;
    while (!question()) {
        if (boot_clock::now() >= end) co_return question();
        timer.expires_after(5ms);
        co_await timer.async_wait(asio::use_awaitable);
    }
    co_return true;
}

/// How long something takes, in milliseconds as Boost.Test can print them.
class stopwatch {
public:
    long long ms() const { return (boot_clock::now() - start_) / 1ms; }

private:
    boot_clock::time_point start_{boot_clock::now()};
};

}  // namespace redlock::testing

#endif
