// The clock that leases are measured with.
#ifndef REDLOCK_CLOCK_HPP
#define REDLOCK_CLOCK_HPP

#include <redlock/detail/export.hpp>

#include <chrono>
#include <cstdint>

namespace redlock {

/// Time since boot, *including* the time that the machine was suspended.
///
/// `std::chrono::steady_clock` stops while a machine sleeps; the servers' keys go on expiring meanwhile, so a lease
/// measured with it would look valid long after it ended. On Linux this is `CLOCK_BOOTTIME`; systems without it fall
/// back to their monotonic clock, and a suspended machine there must not trust a lease it held before.
///
/// Thread safety: `now()` may be called from any thread.
class REDLOCK_API boot_clock {
public:
    using rep = std::int64_t;                                             ///< A count of nanoseconds.
    using period = std::nano;                                             ///< What `rep` counts.
    using duration = std::chrono::nanoseconds;                            ///< A time between two points.
    using time_point = std::chrono::time_point<boot_clock, duration>;     ///< A point; the epoch is the boot of this machine.
    static constexpr bool is_steady = true;                               ///< Nobody sets it.

    /// The time now.
    static time_point now() noexcept;
};

}  // namespace redlock

#endif
