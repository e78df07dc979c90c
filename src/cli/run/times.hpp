// Computes when the command of `redlock run` gets its signals, from the end of its lease. No I/O.
//
//        SIGTERM              SIGKILL   guardian        validity ends: somebody else may start
//   --------|--------------------|----------|----------------|
//           |<--- kill_grace --->|<-------- margin --------->|
//
// At SIGTERM the lease counts as lost (lock_options::stop_margin), and is not extended any more.
#ifndef REDLOCK_CLI_RUN_TIMES_HPP
#define REDLOCK_CLI_RUN_TIMES_HPP

#include <redlock/clock.hpp>

#include <chrono>
#include <optional>

namespace redlock::cli {

struct end_times {
    std::chrono::milliseconds grace{};   // between SIGTERM and SIGKILL
    std::chrono::milliseconds margin{};  // between SIGKILL and the end of validity: for the kernel to end the group

    boot_clock::time_point term_at(boot_clock::time_point valid_until) const noexcept { return kill_at(valid_until) - grace; }
    boot_clock::time_point kill_at(boot_clock::time_point valid_until) const noexcept { return valid_until - margin; }

    // When the guardian kills the group, if the session has not done so before.
    boot_clock::time_point guard_at(boot_clock::time_point valid_until) const noexcept { return valid_until - margin / 2; }
};

// The time for the kernel to end the group: a twentieth of the ttl, within bounds. A killed process ends within milliseconds on an idle machine, but
// later on an overloaded one.
constexpr std::chrono::milliseconds margin_of(std::chrono::milliseconds ttl) noexcept
{
    using namespace std::chrono_literals;
    auto const part = ttl / 20;
    return part < 50ms ? 50ms : part > 500ms ? std::chrono::milliseconds{500ms} : part;
}

inline constexpr std::chrono::milliseconds min_run_ttl{1'000};

// The longest grace for a ttl. The watchdog extends the lease after a third of the ttl; with this grace there is time for that and for a second
// extension, if the first fails, before SIGTERM is due.
constexpr std::chrono::milliseconds max_grace(std::chrono::milliseconds ttl) noexcept { return ttl * 2 / 5 - margin_of(ttl); }

// `grace`: none means a sixth of the ttl. Returns none if the grace is negative or above max_grace().
constexpr std::optional<end_times> make_end_times(std::chrono::milliseconds ttl, std::optional<std::chrono::milliseconds> grace) noexcept
{
    auto const wanted = grace ? *grace : ttl / 6;
    if (wanted < wanted.zero() || wanted > max_grace(ttl)) return std::nullopt;
    return end_times{wanted, margin_of(ttl)};
}

}  // namespace redlock::cli

#endif
