// What can go wrong in a group of three servers that three Sentinels watch. Leases with tokens must not overlap whatever it is.
#ifndef REDLOCK_TESTS_FAULTS_GROUP_FAULT_HPP
#define REDLOCK_TESTS_FAULTS_GROUP_FAULT_HPP

#include "fault.hpp"

#include <span>
#include <string_view>

namespace redlock::faults {

enum class group_fault : std::uint8_t {
    primary_killed,
    primary_back_at_once,
    primary_back_empty,
    primary_stopped,
    primary_stops_briefly,
    machine_lost,
    cut_off_with_clients,
    cut_off_from_servers,
    laggard_promoted,
    replicas_lag,
    replicas_lag_long,
    replica_killed,
    replicas_killed,
    sentinel_killed,
    sentinels_stopped,
    failover_wanted,
    group_worker_stopped,
    group_worker_killed,
};

inline constexpr std::size_t group_fault_count = static_cast<std::size_t>(group_fault::group_worker_killed) + 1;

struct group_fault_traits {
    std::string_view name;
    std::string_view text;  ///< What is done.
    bool fails_over;        ///< It lasts until another server is the primary, and then for its length.
    milliseconds min_length;
    milliseconds max_length;
    bool needs_namespace;
};

group_fault_traits const& traits(group_fault kind) noexcept;

/// All of them, in the order of the table.
std::span<group_fault const> all_group_faults() noexcept;

}  // namespace redlock::faults

#endif
