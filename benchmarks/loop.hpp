// What measurements do with time and the event loop.
#ifndef REDLOCK_BENCHMARKS_LOOP_HPP
#define REDLOCK_BENCHMARKS_LOOP_HPP

#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <chrono>
#include <exception>

namespace bench {

namespace asio = boost::asio;
using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;  // CLOCK_MONOTONIC: one clock for all processes of a machine

/// A completion handler for co_spawn(): an exception goes to who runs the io_context.
inline void rethrow(std::exception_ptr e)
{
    if (e) std::rethrow_exception(e);
}

/// Waits until all nodes have a vote. Throws after 30 seconds.
asio::awaitable<void> wait_until_usable(redlock::client const& nodes);

asio::awaitable<void> pause(std::chrono::nanoseconds d);

/// Runs handlers for so long. Not io_context::run_for(), which looks at the clock and at the sockets before each handler.
void run_for(asio::io_context& io, std::chrono::nanoseconds d);

/// Runs wait_until_usable() to its end.
void run_until_usable(asio::io_context& io, redlock::client const& nodes);

std::chrono::nanoseconds to_duration(double seconds);

}  // namespace bench

#endif
