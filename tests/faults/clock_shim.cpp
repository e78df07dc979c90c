// Makes a program believe in another wall clock: a library for LD_PRELOAD. How wrong it is stands in a file that is mapped, so that it can be
// changed at any time (clock_file.hpp). Raw system calls, and nothing that allocates: allocators ask for the time while they start.
#include "clock_state.hpp"

#include <cstdlib>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

namespace {

using redlock::faults::clock_state;

constexpr long long ns_per_s = 1'000'000'000;

clock_state const* state = nullptr;

__attribute__((constructor)) void open_state()
{
    char const* const file = ::getenv("REDLOCK_CLOCK_FILE");
    if (file == nullptr) return;
    auto const fd = static_cast<int>(::syscall(SYS_openat, AT_FDCWD, file, O_RDONLY | O_CLOEXEC, 0));
    if (fd < 0) ::_exit(126);  // better than a clock that is right by accident
    void* const at = ::mmap(nullptr, sizeof(clock_state), PROT_READ, MAP_SHARED, fd, 0);
    ::syscall(SYS_close, fd);
    if (at == MAP_FAILED) ::_exit(126);
    state = static_cast<clock_state const*>(at);
}

long long real_ns(clockid_t clock)
{
    timespec now{};
    ::syscall(SYS_clock_gettime, clock, &now);
    return now.tv_sec * ns_per_s + now.tv_nsec;
}

long long wrong_ns(clockid_t clock) { return real_ns(clock) + (state != nullptr ? state->error(real_ns(CLOCK_MONOTONIC)) : 0); }

bool is_wall(clockid_t clock) { return clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE; }

}  // namespace

extern "C" {

int clock_gettime(clockid_t clock, timespec* now) noexcept
{
    if (!is_wall(clock)) return static_cast<int>(::syscall(SYS_clock_gettime, clock, now));
    long long const ns = wrong_ns(clock);
    now->tv_sec = static_cast<time_t>(ns / ns_per_s);
    now->tv_nsec = static_cast<long>(ns % ns_per_s);
    return 0;
}

int gettimeofday(timeval* now, void*) noexcept
{
    long long const ns = wrong_ns(CLOCK_REALTIME);
    now->tv_sec = static_cast<time_t>(ns / ns_per_s);
    now->tv_usec = static_cast<suseconds_t>(ns % ns_per_s / 1'000);
    return 0;
}

time_t time(time_t* now) noexcept
{
    auto const s = static_cast<time_t>(wrong_ns(CLOCK_REALTIME) / ns_per_s);
    if (now != nullptr) *now = s;
    return s;
}

}  // extern "C"
