// The durations of a lock with every default filled in, and how long a grant is good. The machines of this folder count with them.
#ifndef REDLOCK_QUORUM_TIMING_HPP
#define REDLOCK_QUORUM_TIMING_HPP

#include <redlock/clock.hpp>
#include <redlock/options.hpp>

#include <optional>

namespace redlock::quorum {

using time_point = boot_clock::time_point;
using duration = boot_clock::duration;

// Servers keep expiry times in whole milliseconds and compare them with a clock cached per event loop turn: one
// millisecond each (the reference implementation adds the same 2 ms to its drift).
inline constexpr duration expiry_granularity = std::chrono::milliseconds{2};

struct timing {
    duration ttl;
    duration key_ttl;          // how long the key stays on the nodes: the ttl and lock_delay
    duration validity;         // how long a grant may be trusted, counted from before its request was sent
    duration node_timeout;
    duration extend_interval;
    duration stop_margin;
    std::optional<duration> max_hold;
    bool auto_extend;

    friend bool operator==(timing const&, timing const&) = default;
};

// How long leases can last that were granted before a moment, by a clock that differs by `clock_drift` at the most from the one that this is measured with.
duration drain_of(duration longest_ttl, double clock_drift) noexcept;

// How long a grant is good: `ttl * (1 - clock_drift)` less `expiry_granularity`. Precondition: both within their bounds.
duration validity_of(duration ttl, double drift) noexcept;

// Precondition: `validate(options)` accepts them.
timing make_timing(lock_options const& options) noexcept;

}  // namespace redlock::quorum

#endif
