// Reads what was written down, and says what must not have happened. Pure: it believes nobody's own counts.
#ifndef REDLOCK_TESTS_FAULTS_CHECKER_HPP
#define REDLOCK_TESTS_FAULTS_CHECKER_HPP

#include "records.hpp"

#include <string>
#include <vector>

namespace redlock::faults {

struct finding {
    moment at;
    std::string text;
};

struct verdict {
    std::vector<finding> violations;       ///< Of the order that tokens promise, whatever happens: must be none.
    std::vector<finding> overlaps;         ///< Two leases on one name, believed in at once, and nothing excuses it: must be none.
    std::vector<finding> overlaps_outside; ///< The same, while assumptions did not hold (`fault_traits::assumptions`).
};

/// Violations are
/// - a write that was accepted after a write or a reader's look with a larger token, or that does not continue the value before it,
/// - a reader's look that was answered after a write with a larger token, or with another value than the last,
/// - a write that was acknowledged to a worker but is not in the register's log,
/// - a token in two leases on one name, of which one is not a reader's (a writer that became a reader keeps its token),
/// - two leases on permits of one semaphore whose holders believe in different numbers of permits,
/// - a lease with a smaller token than one that was held before it was asked for. Not so where two clients could have had the lock at once,
///   as a lease that is passed on within a client counts as asked for when the client asked. Readers are not compared with readers.
///
/// Readers do not overlap with readers. An overlap is also a moment at which more permits of a semaphore are believed in than there are, where each
/// lease on a slot is one, and a write, or a reader's look, that was refused as stale or as a conflict while its lease was
/// valid.
verdict judge(history const& what);

/// The end of what a holder believed.
moment believed_until(lease_record const& lease, worker_record const& worker);

}  // namespace redlock::faults

#endif
