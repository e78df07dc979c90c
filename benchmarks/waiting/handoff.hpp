// How often a lock goes from one coroutine to the next of the same client.
#ifndef REDLOCK_BENCHMARKS_HANDOFF_HPP
#define REDLOCK_BENCHMARKS_HANDOFF_HPP

#include <redlock/redlock.hpp>

#include <chrono>
#include <cstddef>

namespace bench {

struct handoffs {
    double pairs{0};
    double seconds{0};
    double cpu_seconds{0};
    double wait_max_ms{0};
};

/// So many coroutines of one client contend for one lock, for `time` after a warm-up of a tenth of it.
handoffs count_handoffs(redlock::config const& settings, redlock::lock_options const& options, std::size_t waiters,
                        std::chrono::nanoseconds time);

}  // namespace bench

#endif
