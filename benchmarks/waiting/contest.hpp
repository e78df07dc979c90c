// Coroutines, spread over processes, that acquire one lock, hold it and release it all the time: who gets it, and how long each waits.
#ifndef REDLOCK_BENCHMARKS_CONTEST_HPP
#define REDLOCK_BENCHMARKS_CONTEST_HPP

#include "fleet.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace bench {

/// Those of a process share a client, or have one each. With `readers`, the lock is a read-write lock: so many processes read, and the others write. With
/// `permits`, it is a semaphore of so many.
struct contenders {
    std::size_t processes{1};
    std::size_t waiters{1};
    std::size_t readers{0};
    std::uint32_t permits{0};
    bool own_clients{false};
    std::chrono::milliseconds hold{10};
    std::chrono::milliseconds warm_up{1'000};
    std::chrono::milliseconds duration{10'000};
    redlock::lock_options lock;
};

/// Of a process, or of several. Waits that had not ended count in `longest` with what they had lasted.
struct waits {
    std::uint64_t acquired{0};
    std::chrono::nanoseconds sum{0};
    std::chrono::nanoseconds longest{0};

    double mean_ms() const { return acquired == 0 ? 0 : static_cast<double>(sum.count()) / 1e6 / static_cast<double>(acquired); }
    double longest_ms() const { return static_cast<double>(longest.count()) / 1e6; }
    double longest_over_mean() const { return acquired == 0 ? 0 : longest_ms() / mean_ms(); }

    waits& operator+=(waits const& other)
    {
        acquired += other.acquired;
        sum += other.sum;
        longest = std::max(longest, other.longest);
        return *this;
    }
};

struct contest {
    std::vector<waits> of;  ///< Each process; first those that read.
    waits all;
    std::uint64_t overlaps{0};  ///< How often more were inside than may be. Must be 0.
    std::uint64_t overtakings{
        0};  ///< Acquisitions while a process waited that had asked at least 5 ms before. Only where each has one waiter.
    std::uint64_t lost{0};  ///< Leases that were over before their release.
    double seconds{0};
    std::map<std::string, std::uint64_t> commands;  ///< That reached the first server, if they were to be counted.
};

contest hold(fleet const& servers, contenders const& who, bool count_commands);

}  // namespace bench

#endif
