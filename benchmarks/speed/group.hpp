// What the engine of a round costs; see group.cpp.
#ifndef REDLOCK_BENCHMARKS_SPEED_GROUP_HPP
#define REDLOCK_BENCHMARKS_SPEED_GROUP_HPP

#include "meter.hpp"

namespace bench {

struct round_cost {
    double cpu_us{0};
    double latency_us{0};  ///< From one round's start to its end, when nothing else runs.
    double allocations{0};
};

round_cost cost_of_round(bool group, std::size_t nodes, steady::duration time);

}  // namespace bench

#endif
