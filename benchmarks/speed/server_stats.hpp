// How much CPU time servers have used. What they count of each command is in command_stats.hpp.
#ifndef REDLOCK_BENCHMARKS_SPEED_SERVER_STATS_HPP
#define REDLOCK_BENCHMARKS_SPEED_SERVER_STATS_HPP

#include "support.hpp"

namespace bench {

/// CPU time, sockets included; of a fleet: of all together.
double cpu_seconds(redlock::testing::redis_server const& server);
double cpu_seconds(fleet const& servers);

}  // namespace bench

#endif
