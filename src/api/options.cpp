#include <redlock/options.hpp>

#include "api/bounds.hpp"
#include "quorum/timing.hpp"
#include "quorum/ttl_bounds.hpp"

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace redlock {

namespace {

using namespace std::chrono_literals;
using bounds::to_text;
using std::chrono::milliseconds;

using invalid = std::invalid_argument;

using quorum::ttl_bounds;

std::string place_of(char const* member) { return std::string{"lock_options::"} + member; }

void require_option_between(char const* member, milliseconds value, milliseconds min, milliseconds max)
{
    bounds::require_between<invalid>(place_of(member), value, min, max);
}

[[noreturn]] void refuse(char const* member, std::string const& found, std::string const& expected)
{
    bounds::refuse<invalid>(place_of(member), found, expected);
}

std::string rounded(std::chrono::nanoseconds d) { return to_text(std::chrono::duration_cast<milliseconds>(d)); }

void validate_clock_drift(double drift)
{
    if (drift >= 0.0 && drift <= 0.5) return;  // NaN is not
    char text[40];
    std::snprintf(text, sizeof text, "%g", drift);
    refuse("clock_drift", text, "between 0 and 0.5");
}

void validate_stop_margin(milliseconds margin, milliseconds ttl, std::chrono::nanoseconds validity)
{
    if (margin < 0ms || margin > ttl || margin * 2 >= ttl)
        refuse("stop_margin", to_text(margin), "0 ms or more, and less than half the ttl, which is " + to_text(ttl));
    if (margin >= validity)
        refuse("stop_margin", to_text(margin),
               "less than the validity of a lease, which with this ttl and clock_drift is " + rounded(validity));
}

void validate_extend_interval(milliseconds interval, milliseconds ttl)
{
    if (interval < 1ms || interval > ttl || interval * 2 > ttl)
        refuse("extend_interval", to_text(interval), "between 1 ms and half the ttl, which is " + to_text(ttl));
}

// The watchdog must come to its first extension before the lease counts as lost.
void validate_watchdog(lock_options const& options)
{
    quorum::timing const t = quorum::make_timing(options);
    if (!t.auto_extend || t.extend_interval < t.validity - t.stop_margin) return;
    std::string const found = rounded(t.extend_interval) + (options.extend_interval ? "" : " (by default ttl/3)");
    refuse("extend_interval", found,
           "less than the time after which a lease is given up, which with this ttl, clock_drift and stop_margin is " +
               rounded(t.validity - t.stop_margin));
}

}  // namespace

owner_id new_owner() noexcept
{
    static std::atomic<std::uint64_t> last{0};
    return {last.fetch_add(1, std::memory_order_relaxed) + 1};
}

void validate(lock_options const& options)
{
    milliseconds const ttl = options.ttl;
    require_option_between("ttl", ttl, ttl_bounds::least, ttl_bounds::most);
    validate_clock_drift(options.clock_drift);
    if (auto const delay = options.lock_delay; delay < 0ms || delay > ttl_bounds::most - ttl)
        refuse("lock_delay", to_text(delay), "0 ms or more, and with the ttl not above " + to_text(ttl_bounds::most));
    if (auto const timeout = options.node_timeout; timeout && (*timeout < 1ms || *timeout > ttl))
        refuse("node_timeout", to_text(*timeout), "between 1 ms and the ttl, which is " + to_text(ttl));
    if (options.token_block < 1 || options.token_block > 1'000'000)
        refuse("token_block", std::to_string(options.token_block), "between 1 and 1000000");
    if (options.acquire_timeout) require_option_between("acquire_timeout", *options.acquire_timeout, 1ms, bounds::one_year);
    require_option_between("max_retry_delay", options.max_retry_delay, 1ms, bounds::one_day);
    if (auto const min = options.min_retry_delay; min < 1ms || min > options.max_retry_delay)
        refuse("min_retry_delay", to_text(min), "between 1 ms and max_retry_delay, which is " + to_text(options.max_retry_delay));
    require_option_between("poll_interval", options.poll_interval, 1ms, bounds::one_day);
    if (options.max_handoffs > 1'000'000) refuse("max_handoffs", std::to_string(options.max_handoffs), "up to 1000000");
    require_option_between("max_local_hold", options.max_local_hold, 0ms, bounds::one_day);
    if (options.extend_interval) validate_extend_interval(*options.extend_interval, ttl);
    if (options.stop_margin) validate_stop_margin(*options.stop_margin, ttl, quorum::validity_of(ttl, options.clock_drift));
    if (options.max_hold) require_option_between("max_hold", *options.max_hold, 1ms, bounds::one_year);
    validate_watchdog(options);
}

}  // namespace redlock
