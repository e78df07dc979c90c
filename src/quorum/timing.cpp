#include "quorum/timing.hpp"

#include <algorithm>
#include <cassert>

namespace redlock::quorum {

using std::chrono::milliseconds;

namespace {

duration share_of(duration whole, double fraction) noexcept
{
    return std::chrono::duration_cast<duration>(std::chrono::duration<double, std::nano>{static_cast<double>(whole.count()) * fraction});
}

}  // namespace

duration validity_of(duration ttl, double drift) noexcept
{
    auto const allowance = share_of(ttl, drift);
    return ttl - allowance - expiry_granularity;
}

duration drain_of(duration longest_ttl, double clock_drift) noexcept
{
    return longest_ttl + share_of(longest_ttl, clock_drift) + expiry_granularity;
}

timing make_timing(lock_options const& options) noexcept
{
    duration const ttl = options.ttl;
    duration const default_timeout = std::clamp<duration>(ttl / 20, milliseconds{5}, milliseconds{500});

    timing t{};
    t.ttl = ttl;
    t.key_ttl = ttl + options.lock_delay;
    t.validity = validity_of(ttl, options.clock_drift);
    t.node_timeout = options.node_timeout ? duration{*options.node_timeout} : default_timeout;
    t.extend_interval = options.extend_interval ? duration{*options.extend_interval} : ttl / 3;
    t.stop_margin = options.stop_margin ? duration{*options.stop_margin} : ttl / 10;
    if (options.max_hold) t.max_hold = duration{*options.max_hold};
    t.auto_extend = options.auto_extend;

    assert(t.validity > duration::zero() && t.validity < t.ttl);
    assert(t.stop_margin < t.validity);
    return t;
}

}  // namespace redlock::quorum
