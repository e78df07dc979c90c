#include "core/acquire/self_deadlock.hpp"

#include "core/acquire/acquisition.hpp"
#include "core/acquire/lock_kind.hpp"
#include "core/acquire/lock_table.hpp"

namespace redlock::detail {

namespace {

// Without extensions, or with max_hold, the lease is over at some time, and then the owner gets the lock.
bool ends_by_itself(lease_record const& lease)
{
    auto const& options = lease.what->under->options;
    return !options.auto_extend || options.max_hold;
}

bool is_kept_by_its_owner(acquisition const& asking, lease_record const& lease, quorum::time_point now)
{
    bool const is_of_owner = asking.owner() != owner_id{} && lease.has_handles() && lease.owner() == asking.owner();
    return is_of_owner && now < lease.machine.stops_at() && !ends_by_itself(lease);
}

}  // namespace

bool is_awaited_by_its_holder(acquisition const& asking, lease_record const& lease)
{
    bool found = false;
    lease.each_handle([&](lease_handle const& h) { found = found || (h.scope() && asking.is_awaited_in(*h.scope())); });
    return found;
}

bool is_kept_by_its_holder(acquisition const& asking, lease_record const& lease, quorum::time_point now)
{
    return is_awaited_by_its_holder(asking, lease) || is_kept_by_its_owner(asking, lease, now);
}

bool waits_for_itself(acquisition const& asking, lease_record const* own_lease, lock_table const& table, quorum::time_point now)
{
    bool const is_awaited = asking.awaited_by.is_connected();
    if (!is_awaited && asking.owner() == owner_id{}) return false;  // this saves the searches
    auto const& wanted = *asking.request.what;
    if (lock_kind const* const special = table.kind_of(wanted)) return special->waits_for_itself(asking, table, now);
    bool found = false;
    auto const visit = [&](lease_record const& lease) { found = found || is_kept_by_its_holder(asking, lease, now); };
    own_lease ? visit(*own_lease) : table.each_overlapping(wanted, visit);
    if (table.has_any_beside_others()) table.each_reader_of(wanted, visit);
    return found;
}

}  // namespace redlock::detail
