// What a schedule's faults leave to be promised; and what the library computes, in the judge's own words.
#ifndef REDLOCK_TESTS_SIMULATION_ASSUMPTIONS_HPP
#define REDLOCK_TESTS_SIMULATION_ASSUMPTIONS_HPP

#include "clocks.hpp"

#include <cstddef>

namespace redlock::simulation {

// The order of tokens is promised with all faults.
struct assumptions {
    bool clocks_within_drift{true};
    bool memory_kept{true};  // if not, servers lose it in ways that admission sees
    bool keys_kept{true};    // if not, single keys go behind everybody's back

    // Locks with tokens do not mind a loss that is seen.
    bool exclusion(bool with_tokens) const noexcept { return clocks_within_drift && keys_kept && (memory_kept || with_tokens); }
};

// Virtual time stands still while handlers run, so that this covers only what is rounded.
inline constexpr duration rounding{1'000};

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
