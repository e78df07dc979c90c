// One schedule of a world whose set of nodes is changed: commands at any moment, killed, several at once; clients with the old list and with the new one;
// members that are dead, lose their data, leave and come back. Judged by what holders believe and by what a register accepts.
#ifndef REDLOCK_TESTS_SIMULATION_CHANGE_SCHEDULE_HPP
#define REDLOCK_TESTS_SIMULATION_CHANGE_SCHEDULE_HPP

#include "schedule.hpp"

#include <cstdint>
#include <functional>
#include <string>

namespace redlock::simulation {

// `say`: gets what happens, a line each.
result run_change_schedule(std::uint64_t seed, coverage& covered, std::function<void(std::string const&)> say = {});

}  // namespace redlock::simulation

#endif
