// The same work by several workers, in turns, so that whatever else the machine does hits all of them; then medians.
#ifndef REDLOCK_BENCHMARKS_SPEED_TURNS_HPP
#define REDLOCK_BENCHMARKS_SPEED_TURNS_HPP

#include "report.hpp"
#include "workload.hpp"

#include <functional>
#include <string>
#include <vector>

namespace bench {

struct worker {
    std::string name;
    std::function<sample()> run;  ///< In a process of its own.
};

/// What several runs of one worker say.
struct medians {
    std::string name;
    std::vector<sample> samples;

    double of(std::function<double(sample const&)> const& what) const;
    double pairs_per_second() const { return of(&sample::pairs_per_second); }
    double cpu_us_per_pair() const { return of(&sample::cpu_us_per_pair); }
    double acquire_p50_us() const { return of(&sample::acquire_p50_us); }
    double acquire_p99_us() const { return of(&sample::acquire_p99_us); }
    double allocations_per_pair() const { return of(&sample::allocations_per_pair); }
    json to_json() const;
};

/// The median of the ratios of runs that followed each other.
double ratio(medians const& of, medians const& to, std::function<double(sample const&)> const& what);

/// Every worker once, and that `rounds` times.
std::vector<medians> take_turns(std::vector<worker> const& workers, std::size_t rounds);

}  // namespace bench

#endif
