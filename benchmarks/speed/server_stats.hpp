// What servers say of the time that they have used.
#ifndef REDLOCK_BENCHMARKS_SPEED_SERVER_STATS_HPP
#define REDLOCK_BENCHMARKS_SPEED_SERVER_STATS_HPP

#include "support.hpp"

#include <string>
#include <utility>

namespace bench {

/// CPU time, sockets included; of a fleet: of all together.
double cpu_seconds(redlock::testing::redis_server const& server);
double cpu_seconds(fleet const& servers);

/// {calls, usec} of a command, from INFO commandstats.
std::pair<double, double> stat_of(redlock::testing::redis_server const& server, std::string const& command);

}  // namespace bench

#endif
