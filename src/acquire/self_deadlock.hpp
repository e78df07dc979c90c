// Finds acquisitions that would wait for themselves: the holder continues only when they end.
#ifndef REDLOCK_ACQUIRE_SELF_DEADLOCK_HPP
#define REDLOCK_ACQUIRE_SELF_DEADLOCK_HPP

namespace redlock::detail {

class acquisition;
class lease_record;
class lock_table;

// Whether this acquisition cannot end, because
// - a scope that awaits it holds the lock, or one of its names;
// - scopes that await it hold so many permits that too few are left;
// - it wants to write, and its owner, or a scope that awaits it, has the lock for reading: an upgrade.
// `own_lease`: the lease that this client has of the same names, or null. `table`: all leases of the client.
bool waits_for_itself(acquisition const& asking, lease_record const* own_lease, lock_table const& table);

}  // namespace redlock::detail

#endif
