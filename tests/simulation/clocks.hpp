// Clocks of the simulated machines: each runs at a rate of its own, against the time of the world that nobody in it can read.
#ifndef REDLOCK_TESTS_SIMULATION_CLOCKS_HPP
#define REDLOCK_TESTS_SIMULATION_CLOCKS_HPP

#include <redlock/clock.hpp>

#include <chrono>
#include <cstdint>

namespace redlock::simulation {

using namespace std::chrono_literals;

using duration = boot_clock::duration;
using time_point = boot_clock::time_point;

// How wrong clocks may run, in parts per million. Between them a client and a server stay within the 1 % of lock_options::clock_drift.
inline constexpr std::int64_t server_drift = 9'000;
inline constexpr std::int64_t client_drift = 900;

class machine_clock {
public:
    machine_clock(time_point shows, duration world, std::int64_t parts_per_million) noexcept
        : shows_{shows}, since_{world}, ppm_{parts_per_million}
    {
    }

    time_point at(duration world) const noexcept
    {
        auto const passed = world - since_;
        return shows_ + passed + scaled(passed, million);
    }

    // The first moment of the world at which the clock shows `t`, or later.
    duration when(time_point t) const noexcept
    {
        auto const left = t - shows_;
        duration guess = since_ + left - scaled(left, million + ppm_);
        while (at(guess) < t) guess += duration{1};
        return guess;
    }

    void step(duration d) noexcept { shows_ += d; }

    void run_at(std::int64_t parts_per_million, duration world) noexcept
    {
        shows_ = at(world);
        since_ = world;
        ppm_ = parts_per_million;
    }

    std::int64_t parts_per_million() const noexcept { return ppm_; }

private:
    static constexpr std::int64_t million = 1'000'000;

    // d * ppm_ / by, where d may be years.
    duration scaled(duration d, std::int64_t by) const noexcept { return d / by * ppm_ + d % by * ppm_ / by; }

    time_point shows_;
    duration since_;
    std::int64_t ppm_;
};

// The clock of the process that runs now, as the library reads it: through boot_clock, whose clock_gettime is ours here
// (clocks.cpp). Each thread has a world of its own.
class simulated_clock {
public:
    static time_point now() noexcept { return boot_clock::now(); }
};

struct machine_time {
    time_point boot;     // CLOCK_BOOTTIME
    duration suspended;  // what CLOCK_MONOTONIC is behind it
};

// What boot_clock shows on this thread from now on; null: the time of the real machine.
void show(machine_time const* t) noexcept;

}  // namespace redlock::simulation

#endif
