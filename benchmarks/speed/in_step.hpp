// Workers in step with their servers (relay.hpp), each in a process of its own, and what valgrind counts of them.
#ifndef REDLOCK_BENCHMARKS_SPEED_IN_STEP_HPP
#define REDLOCK_BENCHMARKS_SPEED_IN_STEP_HPP

#include "workload.hpp"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// Who can be told to go in step.
struct worker_kind {
    std::string_view name;
    sample (*run)(workload const&);
};
inline constexpr worker_kind this_library{"redlock", &run_ours};
inline constexpr worker_kind epoll_floor{"epoll-floor", &run_epoll_baseline};
inline constexpr worker_kind boost_redis_floor{"boost-redis-floor", &run_boost_redis_baseline};
inline constexpr worker_kind coroutines_floor{"coroutines-floor", &run_coroutines_baseline};
inline constexpr worker_kind duties_floor{"duties-floor", &run_duties_baseline};

/// Runs a program in a process of its own, and returns what it printed.
std::string output_of(std::vector<std::string> const& program);

/// What callgrind counted of a program.
struct callgrind_counts {
    std::map<std::string, double> events;  ///< "Ir": instructions; others as options ask for them.
    std::string output;                    ///< What the program printed.
};

/// Counts what functions do whose names begin so, and what they call. `keep`: where callgrind's file goes; empty: nowhere.
callgrind_counts run_under_callgrind(std::string const& function, std::vector<std::string> const& program,
                                     std::vector<std::string> const& options = {}, std::filesystem::path const& keep = {});

/// The same of a worker's workload::pairs, in step; of one pair.
std::map<std::string, double> callgrind_counts_per_pair(workload work, worker_kind const& who, std::vector<std::string> const& options = {},
                                                        std::filesystem::path const& keep = {});

}  // namespace bench

#endif
