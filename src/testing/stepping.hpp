// How virtual time passes: what is ready runs, then the clock moves on to the next timer.
#ifndef REDLOCK_TESTING_STEPPING_HPP
#define REDLOCK_TESTING_STEPPING_HPP

#include "testing/virtual_time.hpp"

#include <boost/asio/io_context.hpp>

#include <functional>

namespace redlock::testing {

// Runs everything that is ready, without letting time pass.
void settle(asio::io_context& context);

// Lets so much time pass, timer by timer.
void advance(asio::io_context& context, duration d);

// Lets time pass until `done`, or until so much has passed, or nothing waits for time any more. Returns whether it is done.
bool advance_until(asio::io_context& context, std::function<bool()> const& done, duration limit);

}  // namespace redlock::testing

#endif
