#include "clocks.hpp"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace redlock::simulation {

namespace {
constinit thread_local machine_time const* shown = nullptr;
}

void show(machine_time const* t) noexcept { shown = t; }

}  // namespace redlock::simulation

// Takes the place of the C library's for the whole program, so that src/api/clock.cpp, which is simulated too, reads simulated time.
extern "C" int clock_gettime(clockid_t clock, timespec* out) noexcept
{
    using namespace redlock::simulation;
    if (shown == nullptr || (clock != CLOCK_BOOTTIME && clock != CLOCK_MONOTONIC))
        return static_cast<int>(::syscall(SYS_clock_gettime, clock, out));
    auto t = shown->boot.time_since_epoch();
    if (clock == CLOCK_MONOTONIC) t -= shown->suspended;
    auto const seconds = std::chrono::floor<std::chrono::seconds>(t);
    out->tv_sec = seconds.count();
    out->tv_nsec = (t - seconds).count();
    return 0;
}
