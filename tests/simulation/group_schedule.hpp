// One schedule of a world whose nodes are groups: failovers, replicas that lag, old primaries that go on, clients that wait for another number of
// replicas. Judged by what holders believe and by what a register accepts: nothing that a server says counts.
#ifndef REDLOCK_TESTS_SIMULATION_GROUP_SCHEDULE_HPP
#define REDLOCK_TESTS_SIMULATION_GROUP_SCHEDULE_HPP

#include "schedule.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace redlock::simulation {

// `say`: gets what happens, a line each.
result run_group_schedule(std::uint64_t seed, coverage& covered, std::function<void(std::string const&)> say = {});

}  // namespace redlock::simulation

#endif
