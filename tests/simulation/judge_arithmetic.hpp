// What the library computes, written a second time, so that a mistake there is not repeated here.
#ifndef REDLOCK_TESTS_SIMULATION_JUDGE_ARITHMETIC_HPP
#define REDLOCK_TESTS_SIMULATION_JUDGE_ARITHMETIC_HPP

#include "clocks.hpp"

#include <cstddef>

namespace redlock::simulation {

// Virtual time stands still while handlers run, so that this covers only what is rounded.
inline constexpr duration rounding{1'000};

// A duration on the clock of one client is within so much of the same on that of another.
constexpr duration between_clocks(duration d) noexcept
{
    static_assert(2 * client_drift < 1'000'000 / 500);
    return d / 500;
}

// N/2 + 1
constexpr std::size_t most_of(std::size_t nodes) noexcept { return nodes / 2 + 1; }

// How long a client may count on a request with this ttl, from when it sent it (docs/protocol.md, rule 2).
constexpr duration validity_of(duration ttl, double clock_drift) noexcept
{
    constexpr duration expiry_granularity{2'000'000};
    return ttl - duration{static_cast<duration::rep>(static_cast<double>(ttl.count()) * clock_drift)} - expiry_granularity;
}

}  // namespace redlock::simulation

#endif
