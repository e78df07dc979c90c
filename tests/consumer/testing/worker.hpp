// A part of a service, compiled into a library of its own. What it waits with is passed in, so that its tests need not wait.
#ifndef WORKER_HPP
#define WORKER_HPP

#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>

#include <chrono>
#include <functional>

using sleep_function = std::function<boost::asio::awaitable<void>(std::chrono::milliseconds)>;

// Works for so many steps of a second each, while it has the lock. Returns how many it did.
boost::asio::awaitable<int> work(redlock::client& nodes, int steps, sleep_function sleep);

#endif
