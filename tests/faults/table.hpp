// What a run was like: figures for each fault, from what was written down.
#ifndef REDLOCK_TESTS_FAULTS_TABLE_HPP
#define REDLOCK_TESTS_FAULTS_TABLE_HPP

#include "checker.hpp"
#include "records.hpp"

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <map>
#include <string>
#include <vector>

namespace redlock::faults {

/// From the beginning of a fault until all is well again, summed up over all times that it was there.
struct figures {
    std::size_t times{0};
    std::size_t acquired{0};
    std::uint64_t extended{0};
    std::size_t lost{0};
    std::size_t quarantines{0};                ///< How often a node lost its vote.
    std::chrono::nanoseconds max_unavailable{};///< The longest time in which nobody acquired any lock.
    std::size_t violations{0};
    std::size_t overlaps{0};
    std::size_t overlaps_outside{0};
};

/// One for each kind, in the order of `all_fault_kinds()`. Where faults overlap, all count for each.
std::vector<figures> figures_by_kind(history const& what, verdict const& found);

/// Of the whole time, in and between faults.
figures figures_of_all(history const& what, verdict const& found);

/// Only rows of what was to be there: `shown`.
void print_table(std::ostream& out, std::vector<fault_kind> const& shown, std::vector<figures> const& kinds, figures const& all);

/// Of those that do not hold alone.
struct company {
    std::size_t leases{0};
    std::size_t max_together{0};  ///< The most that held one name, or one semaphore, at once.
};
/// Of read-write locks, the readers. `downgraded`: only those that began as a writer's.
company readers_of(history const& what, bool downgraded = false);
/// Of semaphores, the leases; `max_together` is of slots.
company permits_of(history const& what);

/// What the register answered, why operations failed, and what the clients counted that lived until the end.
void print_writes(std::ostream& out, history const& what);
void print_failures(std::ostream& out, history const& what);
std::map<std::string, std::uint64_t> counters_of(history const& what);
void print_counters(std::ostream& out, std::map<std::string, std::uint64_t> const& all);

/// A worker that uses more and more memory or descriptors. Empty when there is none; only lives longer than a minute are looked at.
std::vector<std::string> growth(history const& what);

/// One line for each such life: what it used.
void print_usage(std::ostream& out, history const& what);

}  // namespace redlock::faults

#endif
