// How long nobody acquired in a group, for each fault.
#ifndef REDLOCK_TESTS_FAULTS_GROUP_TABLE_HPP
#define REDLOCK_TESTS_FAULTS_GROUP_TABLE_HPP

#include "group_fault.hpp"
#include "records.hpp"

#include <chrono>
#include <cstddef>
#include <iosfwd>
#include <vector>

namespace redlock::faults {

struct period {
    moment from;
    moment until;
};

/// A fault that was there.
struct group_fault_record {
    group_fault kind;
    moment injected;
    moment settled;
    std::vector<period>
        could_go_on;  ///< There was one primary, and a replica that followed it. The first max_ttl of each may be quarantine.
};

struct group_stops {
    std::size_t times{0};
    std::size_t acquired{0};
    std::size_t lost{0};
    std::chrono::nanoseconds max_without{};    ///< How long the group could not go on.
    std::chrono::nanoseconds longest{};        ///< The longest time in which nobody acquired any lock.
    std::chrono::nanoseconds longest_beyond{}; ///< The same, while the group could go on without an interruption.
};

/// One for each kind, in the order of `all_group_faults()`.
std::vector<group_stops> stops_by_kind(history const& what, std::vector<group_fault_record> const& faults);

/// Only rows of what was to be there: `shown`.
void print_stops(std::ostream& out, std::vector<group_fault> const& shown, std::vector<group_stops> const& kinds);

}  // namespace redlock::faults

#endif
