// Finds acquisitions that would wait for themselves: the holder continues only when they end.
#ifndef REDLOCK_ACQUIRE_SELF_DEADLOCK_HPP
#define REDLOCK_ACQUIRE_SELF_DEADLOCK_HPP

namespace redlock::detail {

class acquisition;
class lease_record;
class lock_table;

// Whether the scope that holds the lock, or one of its names, awaits this acquisition. `here`: the lease that this client has of the same names, or
// null. `held`: all its leases.
bool waits_for_itself(acquisition const& what, lease_record const* here, lock_table const& held);

}  // namespace redlock::detail

#endif
