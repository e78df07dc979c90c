// What a schedule's faults leave to be promised.
#ifndef REDLOCK_TESTS_SIMULATION_ASSUMPTIONS_HPP
#define REDLOCK_TESTS_SIMULATION_ASSUMPTIONS_HPP

namespace redlock::simulation {

// The order of tokens is promised with all faults.
struct assumptions {
    bool clocks_within_drift{true};
    bool memory_kept{true};  // if not, servers lose it in ways that admission sees
    bool keys_kept{true};    // if not, single keys go behind everybody's back

    // Locks with tokens do not mind a loss that is seen.
    bool exclusion(bool with_tokens) const noexcept { return clocks_within_drift && keys_kept && (memory_kept || with_tokens); }
};

}  // namespace redlock::simulation

#endif
