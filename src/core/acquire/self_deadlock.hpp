// Finds acquisitions that would wait for themselves: the holder continues only when they end.
#ifndef REDLOCK_CORE_ACQUIRE_SELF_DEADLOCK_HPP
#define REDLOCK_CORE_ACQUIRE_SELF_DEADLOCK_HPP

#include "quorum/timing.hpp"

namespace redlock::detail {

class acquisition;
class lease_record;
class lock_table;

// Whether this acquisition cannot be granted, because
// - the body of a scope that awaits it holds the lock, or one of its names;
// - its owner has the lock, or one of its names, by a lease that it cannot share, and that does not end by itself;
// - it wants to write, and its owner, or the body of a scope that awaits it, has the lock for reading: an upgrade;
// - the kind of lock says so.
// What only may be a deadlock is none: a coroutine that a body has spawned may well wait for the end of the scope.
// `own_lease`: the lease that this client has of the same names, or null. `table`: all leases of the client.
bool waits_for_itself(acquisition const& asking, lease_record const* own_lease, lock_table const& table, quorum::time_point now);

// Of one lease of those that it would wait for: whether the body of its scope awaits the acquisition; or also whether its owner asks again.
bool is_awaited_by_its_holder(acquisition const& asking, lease_record const& lease);
bool is_kept_by_its_holder(acquisition const& asking, lease_record const& lease, quorum::time_point now);

}  // namespace redlock::detail

#endif
