// When a command must end, by the end of its lease. No I/O.
//
//        SIGTERM              SIGKILL   guardian        validity ends: somebody else may start
//   --------|--------------------|----------|----------------|
//           |<--- kill_grace --->|<-------- margin --------->|
//
// The lease is given up at SIGTERM (lock_options::stop_margin), and is not extended any more from then on.
#ifndef REDLOCK_CLI_TIMES_HPP
#define REDLOCK_CLI_TIMES_HPP

#include <redlock/clock.hpp>

#include <chrono>
#include <optional>

namespace redlock::cli {

struct end_times {
    std::chrono::milliseconds grace{};   // between SIGTERM and SIGKILL
    std::chrono::milliseconds margin{};  // between SIGKILL and the end of validity: for the kernel to end the group

    boot_clock::time_point term_at(boot_clock::time_point valid_until) const noexcept { return kill_at(valid_until) - grace; }
    boot_clock::time_point kill_at(boot_clock::time_point valid_until) const noexcept { return valid_until - margin; }

    // The guardian acts when nobody has by then.
    boot_clock::time_point guard_at(boot_clock::time_point valid_until) const noexcept { return valid_until - margin / 2; }
};

// A process that dies of SIGKILL is gone within milliseconds on an idle machine, but not on one that is short of processors.
constexpr std::chrono::milliseconds margin_of(std::chrono::milliseconds ttl) noexcept
{
    using namespace std::chrono_literals;
    auto const part = ttl / 20;
    return part < 50ms ? 50ms : part > 500ms ? std::chrono::milliseconds{500ms} : part;
}

inline constexpr std::chrono::milliseconds run_ttl_min{1'000};

// Without `lock_delay` a sixth of the ttl. None: grace is too long for this ttl; up to grace_max() the first extension, at a third of the ttl,
// and another one if it fails, come before the command would be ended.
constexpr std::chrono::milliseconds grace_max(std::chrono::milliseconds ttl) noexcept { return ttl * 2 / 5 - margin_of(ttl); }

constexpr std::optional<end_times> make_end_times(std::chrono::milliseconds ttl, std::optional<std::chrono::milliseconds> grace) noexcept
{
    auto const wanted = grace ? *grace : ttl / 6;
    if (wanted < wanted.zero() || wanted > grace_max(ttl)) return std::nullopt;
    return end_times{wanted, margin_of(ttl)};
}

}  // namespace redlock::cli

#endif
