// What asio::experimental::parallel_group costs in the fan-out of a round, against operations that are counted by hand. benchmarks/decisions.md has the
// figures.
#ifndef REDLOCK_BENCHMARKS_SPEED_ROUND_ENGINE_HPP
#define REDLOCK_BENCHMARKS_SPEED_ROUND_ENGINE_HPP

#include "meter.hpp"

namespace bench {

struct round_cost {
    double cpu_us{0};
    double latency_us{0};  ///< Elapsed time for each round; one runs after the other.
    double allocations{0};
};

enum class engine { parallel_group, by_hand };

round_cost cost_of_round(engine which, std::size_t nodes, steady::duration measured_for);

}  // namespace bench

#endif
