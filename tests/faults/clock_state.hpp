// How wrong a server's wall clock is: what the runner writes and the preloaded library reads, in memory that both have mapped.
#ifndef REDLOCK_TESTS_FAULTS_CLOCK_STATE_HPP
#define REDLOCK_TESTS_FAULTS_CLOCK_STATE_HPP

#include <atomic>
#include <cstdint>

namespace redlock::faults {

struct clock_state {
    // Two of them, of which `current` says which one holds, so that a reader never sees half of a change.
    struct line {
        std::int64_t offset_ns;
        std::int64_t rate_ppm;   ///< Too fast, or if negative too slow, since:
        std::int64_t since_ns;   ///< CLOCK_MONOTONIC.
    };

    std::int64_t error(std::int64_t monotonic_ns) const noexcept
    {
        line const& l = lines[current.load(std::memory_order_acquire)];
        return l.offset_ns + (monotonic_ns - l.since_ns) / 1'000 * l.rate_ppm / 1'000;
    }

    std::atomic<std::uint32_t> current{0};
    line lines[2]{};
};

}  // namespace redlock::faults

#endif
