// The clock that measures leases.
#ifndef REDLOCK_CLOCK_HPP
#define REDLOCK_CLOCK_HPP

#include <redlock/detail/export.hpp>

#include <chrono>
#include <cstdint>

namespace redlock {

/// The time since boot, *including* the time that the machine was suspended.
///
/// `std::chrono::steady_clock` stops during suspension while the servers' keys keep expiring, so a lease measured with it would look valid
/// long after its end. On Linux this is `CLOCK_BOOTTIME`. Other systems use their monotonic clock; there, do not trust a lease that was
/// held before a suspension.
///
/// Thread safety: `now()` may be called from any thread.
class REDLOCK_API boot_clock {
public:
    using rep = std::int64_t;  ///< A number of nanoseconds.
    using period = std::nano;  ///< The unit of `rep`.
    using duration = std::chrono::nanoseconds;  ///< A time between two points, in nanoseconds.
    using time_point = std::chrono::time_point<boot_clock, duration>;  ///< A point in time; the epoch is the boot of this machine.
    static constexpr bool is_steady = true;  ///< It cannot be set.

    /// The present time.
    static time_point now() noexcept;
};

}  // namespace redlock

#endif
