// An operator brings all servers back from one backup, one after the other, each when the others can tell the last one what it forgot.
#ifndef REDLOCK_TESTS_SIMULATION_RESTORES_HPP
#define REDLOCK_TESTS_SIMULATION_RESTORES_HPP

#include "faults.hpp"

namespace redlock::simulation {

// In the end no server has seen the tokens of after the backup: all of them know only from each other how far they went.
void plan_restores(universe& u, fault_range const& range);

}  // namespace redlock::simulation

#endif
