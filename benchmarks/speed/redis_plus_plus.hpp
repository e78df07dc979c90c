// A worker that is there only if CMake has found redis-plus-plus.
#ifndef REDLOCK_BENCHMARKS_SPEED_REDIS_PLUS_PLUS_HPP
#define REDLOCK_BENCHMARKS_SPEED_REDIS_PLUS_PLUS_HPP

#include "workload.hpp"

namespace bench {

/// It counts pairs and CPU time, no latency.
sample run_redis_plus_plus(workload const& what);

}  // namespace bench

#endif
