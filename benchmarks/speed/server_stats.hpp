// How much CPU time servers have used. What they count of each command is in benchmarks/command_stats.hpp.
#ifndef REDLOCK_BENCHMARKS_SPEED_SERVER_STATS_HPP
#define REDLOCK_BENCHMARKS_SPEED_SERVER_STATS_HPP

#include "support.hpp"

namespace bench {

/// In user mode and in the kernel, since the server was started; of a fleet: of all together.
double cpu_seconds(redlock::testing::redis_server const& server);
double cpu_seconds(fleet const& servers);

}  // namespace bench

#endif
