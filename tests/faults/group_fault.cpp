#include "group_fault.hpp"

#include <array>

namespace redlock::faults {
namespace {

using namespace std::chrono_literals;

// After a failover nobody acquires for max_ttl (1.5 s, see timing.hpp). What an old primary does lasts longer, most of the time.
constexpr std::array<group_fault_traits, group_fault_count> group_rows{{
    {"primary killed", "SIGKILL of the primary; back with its data after the failover, as a primary of its own", true, 0ms, 2'500ms, false},
    {"killed, back at once", "SIGKILL and restart of the primary, with its data, before anybody has noticed", false, 50ms, 300ms, false},
    {"killed, back empty", "SIGKILL of the primary; back without its data after the failover, as a primary of its own", true, 0ms, 2'500ms,
     false},
    {"primary stopped", "SIGSTOP of the primary, SIGCONT after the failover: its clients are still connected", true, 0ms, 2'500ms, false},
    {"stopped briefly", "SIGSTOP, SIGCONT of the primary, before anybody has noticed", false, 200ms, 800ms, false},
    {"machine lost", "SIGKILL of the primary and of a Sentinel, back after the failover", true, 0ms, 2'500ms, false},
    {"cut off with clients", "half of the workers and the primary are cut off from all others; the others fail over", true, 500ms, 5'000ms,
     true},
    {"cut off from servers", "the primary and its Sentinel are cut off from the others, and not from the workers", true, 500ms, 5'000ms,
     true},
    {"laggard promoted", "a replica hears nothing from the primary for a while; then it is the only one that can be promoted", true, 0ms,
     500ms, true},
    {"replicas lag", "packets between the primary and its replicas take longer (up to 50 ms): acquisitions go on", false, 1'000ms, 3'000ms,
     true},
    {"replicas lag long", "the same (up to 250 ms): acknowledgements may come later than replication_timeout", false, 1'000ms, 3'000ms,
     true},
    {"replica killed", "SIGKILL and restart of a replica, without its data", false, 100ms, 2'500ms, false},
    {"replicas killed", "SIGKILL and restart of both replicas: nobody can acknowledge a vote", false, 100ms, 2'000ms, false},
    {"Sentinel killed", "SIGKILL and restart of a Sentinel", false, 100ms, 2'500ms, false},
    {"Sentinels stopped", "SIGSTOP, SIGCONT of two Sentinels: nobody can fail over", false, 500ms, 2'500ms, false},
    {"failover wanted", "SENTINEL FAILOVER: an operator's, of a primary that works", true, 0ms, 500ms, false},
    {"worker stopped", "SIGSTOP, SIGCONT of a process that holds locks", false, 1'100ms, 2'000ms, false},
    {"worker killed", "SIGKILL of a process that holds locks, another one takes its place", false, 100ms, 300ms, false},
}};

constexpr auto group_order = [] {
    std::array<group_fault, group_fault_count> all{};
    for (std::size_t i = 0; i < group_fault_count; ++i) all[i] = static_cast<group_fault>(i);
    return all;
}();

}  // namespace

group_fault_traits const& traits(group_fault kind) noexcept { return group_rows[static_cast<std::size_t>(kind)]; }

std::span<group_fault const> all_group_faults() noexcept { return group_order; }

}  // namespace redlock::faults
