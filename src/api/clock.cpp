#include <redlock/clock.hpp>

#include <cstdlib>

#include <time.h>

namespace redlock {

boot_clock::time_point boot_clock::now() noexcept
{
#ifdef CLOCK_BOOTTIME
    constexpr clockid_t clock = CLOCK_BOOTTIME;
#else
    constexpr clockid_t clock = CLOCK_MONOTONIC;
#endif
    timespec t{};
    // Without a clock every lease would look valid for ever.
    if (::clock_gettime(clock, &t) != 0) std::abort();
    return time_point{std::chrono::seconds{t.tv_sec} + std::chrono::nanoseconds{t.tv_nsec}};
}

}  // namespace redlock
