// Lets virtual time pass on an io_context, for tests and for testing::simulation: all ready handlers run, then the clock moves to the next timer.
#ifndef REDLOCK_TESTING_STEPPING_HPP
#define REDLOCK_TESTING_STEPPING_HPP

#include "testing/virtual_time.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>

namespace redlock::testing {

// Runs everything that is ready, without letting time pass.
void settle(asio::io_context& context);

// Lets `d` pass, timer by timer.
void advance(asio::io_context& context, duration d);

// Lets time pass until `done` returns true, until `limit` has passed, or until no timer is set. Returns what `done` returns then.
bool advance_until(asio::io_context& context, std::function<bool()> const& done, duration limit);

}  // namespace redlock::testing

#endif
