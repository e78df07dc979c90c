// What the demo has shown, and whether it was what the library promises.
#ifndef REDLOCK_DEMO_SUMMARY_HPP
#define REDLOCK_DEMO_SUMMARY_HPP

#include "shared_board.hpp"
#include "terminal.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace demo {

// Everything that is wrong with the result; empty when the demo has passed.
std::vector<std::string> complaints(board const& shared, bool workers_succeeded);

void print_summary(terminal const& out, board const& shared, std::chrono::nanoseconds elapsed, std::vector<std::string> const& wrong);

}  // namespace demo

#endif
