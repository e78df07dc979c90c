// What can go wrong, drawn from the seed. Everything that lasts ends with its schedule's horizon.
#ifndef REDLOCK_TESTS_SIMULATION_FAULTS_HPP
#define REDLOCK_TESTS_SIMULATION_FAULTS_HPP

#include "judge.hpp"
#include "universe.hpp"

#include <string>
#include <vector>

namespace redlock::simulation {

struct fault_range {
    duration horizon;  // nothing goes wrong after it
    duration ttl;      // durations are of this order
    std::vector<std::string> names;
    assumptions assumed;
    bool tokens_ahead;  // of all clocks: then the marks of ceil(N/2) servers must not be lost together
};

// All clients but one cannot reach a server, each another one: so their majorities share as little as they can.
void plan_blind_spots(universe& u, fault_range const& range);

// Puts one fault into the world, at some moment before the horizon.
void plan_fault(universe& u, fault_range const& range);

// Of the network only, for worlds of another kind than schedule.cpp's.
void plan_a_link_fault(universe& u, duration horizon, duration ttl);

}  // namespace redlock::simulation

#endif
