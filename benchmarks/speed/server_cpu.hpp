// How much CPU time servers have used. What they count of each command is in benchmarks/command_stats.hpp.
#ifndef REDLOCK_BENCHMARKS_SPEED_SERVER_CPU_HPP
#define REDLOCK_BENCHMARKS_SPEED_SERVER_CPU_HPP

#include "fleet.hpp"

#include <deque>

namespace bench {

/// The CPU time, in user mode and in the kernel, that a server has used since it was started. Throws `std::runtime_error` if it does not say.
double cpu_seconds(redlock::testing::redis_server const& server);

/// Of all servers together.
double cpu_seconds(fleet const& servers);
double cpu_seconds(std::deque<redlock::testing::redis_server> const& servers);

}  // namespace bench

#endif
