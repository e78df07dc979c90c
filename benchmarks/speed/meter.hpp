// What one worker measures of itself between its warm-up and its end.
#ifndef REDLOCK_BENCHMARKS_SPEED_METER_HPP
#define REDLOCK_BENCHMARKS_SPEED_METER_HPP

#include "loop.hpp"
#include "support/instruction_counter.hpp"

#include <cstdint>
#include <vector>

namespace bench {

/// Trivially copyable, so that it goes through a pipe.
struct sample {
    double pairs{0};  ///< Acquisitions that were followed by their release.
    double seconds{0};
    double user_us{0};  ///< CPU time of the process.
    double system_us{0};
    double acquire_p50_us{0};
    double acquire_p99_us{0};
    double allocations{0};
    double instructions{0};   ///< In user mode; 0: the kernel does not let them be counted.
    double confirmations{
        0};  ///< Acquisitions that needed a second round. Baselines make none, and count those whose nodes gave different tokens.
    double acquired{0};       ///< By the library's own counter; 0 for others.

    double pairs_per_second() const { return pairs / seconds; }
    double cpu_us_per_pair() const { return (user_us + system_us) / pairs; }
    double allocations_per_pair() const { return allocations / pairs; }
    double instructions_per_pair() const { return instructions / pairs; }
};

struct cpu_time {
    double user_us{0};
    double system_us{0};
};
cpu_time cpu_used();

class meter {
public:
    meter();

    /// The warm-up is over.
    void begin();

    void pair() noexcept { ++pairs_; }
    void add_pairs(std::uint64_t n) noexcept { pairs_ += n; }
    std::uint64_t pairs() const noexcept { return pairs_; }

    /// Instructions and allocations between them do not count. Time and CPU time do.
    void pause() noexcept;
    void resume() noexcept;
    void acquired_after(steady::duration waited)
    {
        if (measuring_) waits_ns_.push_back(waited.count());
    }
    void confirmed() noexcept { ++confirmations_; }

    /// No pair was completed since the beginning.
    bool has_no_pairs() const noexcept { return pairs_ == 0; }

    /// Of all callers one in eight is timed, unless there are only a few: a look at the clock costs a hundredth of a pair.
    static bool times(std::size_t caller, std::size_t callers) noexcept { return callers <= 64 || caller % 8 == 0; }

    sample end();

private:
    bool measuring_{false};
    std::uint64_t pairs_{0};
    std::uint64_t confirmations_{0};
    std::vector<steady::rep> waits_ns_;
    steady::time_point began_;
    cpu_time used_before_;
    std::uint64_t allocations_before_{0};
    std::uint64_t allocations_paused_at_{0};
    redlock::testing::instruction_counter instructions_;
};

/// The value in the middle.
double median(std::vector<double> values);

}  // namespace bench

#endif
