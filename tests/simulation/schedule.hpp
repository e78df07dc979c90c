// One schedule: a world drawn from a seed, with its clients, its workload and its faults; run to the end and judged.
#ifndef REDLOCK_TESTS_SIMULATION_SCHEDULE_HPP
#define REDLOCK_TESTS_SIMULATION_SCHEDULE_HPP

#include "coverage.hpp"
#include "recorder.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace redlock::simulation {

struct result {
    std::optional<std::string> violation;
    std::uint64_t hash;   // of everything that happened, in its order
    std::uint64_t steps;
    duration virtual_time;
};

// `transitions`: gets what happened in the proof's terms (transition_log).
result run_schedule(std::uint64_t seed, coverage& covered, recorder* records = nullptr, std::string* transitions = nullptr);

}  // namespace redlock::simulation

#endif
