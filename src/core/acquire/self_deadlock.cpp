#include "core/acquire/self_deadlock.hpp"

#include "core/acquire/acquisition.hpp"
#include "core/acquire/lock_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace redlock::detail {

namespace {

bool is_awaited_by_its_holder(acquisition const& asking, lease_record const& lease)
{
    bool found = false;
    lease.each_handle([&](lease_handle const& h) { found = found || (h.scope() && asking.is_awaited_in(*h.scope())); });
    return found;
}

// Whether too few permits would be left even if every other holder released its own, since scopes that await this acquisition keep the rest.
bool is_short_of_its_own_permits(acquisition const& asking, lock_table const& table)
{
    permit_pool const& pool = *asking.request.what->pool();
    std::size_t kept = 0;
    table.each_of_permits(pool.record, [&](lease_record const& lease) {
        if (!is_awaited_by_its_holder(asking, lease)) return;
        // A lease may have slots that a semaphore of the present size does not have.
        for (std::uint32_t const slot : lease.what->slots())
            kept += static_cast<std::size_t>(std::ranges::count(pool.slots, slot, &permit_pool::slot::number));
    });
    return kept > 0 && kept + asking.request.what->permit_count() > pool.slots.size();
}

// Without extensions, or with max_hold, the lease is over at some time, and then the owner gets the lock.
bool ends_by_itself(lease_record const& lease)
{
    auto const& options = lease.what->under->options;
    return !options.auto_extend || options.max_hold;
}

bool is_kept_by_its_owner(acquisition const& asking, lease_record const& lease, quorum::time_point now)
{
    bool const is_of_owner = asking.owner() != owner_id{} && lease.has_handles() && lease.owner() == asking.owner();
    return is_of_owner && lease.is_lease() && now < lease.machine.stops_at() && !ends_by_itself(lease);
}

}  // namespace

bool waits_for_itself(acquisition const& asking, lease_record const* own_lease, lock_table const& table, quorum::time_point now)
{
    bool const is_awaited = asking.awaited_by.is_connected();
    if (!is_awaited && asking.owner() == owner_id{}) return false;  // this saves the searches
    auto const& wanted = *asking.request.what;
    if (wanted.is_for_permits()) return is_short_of_its_own_permits(asking, table);
    bool found = false;
    auto const visit = [&](lease_record const& lease) {
        found = found || is_awaited_by_its_holder(asking, lease) || is_kept_by_its_owner(asking, lease, now);
    };
    if (wanted.is_for_readers()) {
        table.each_on(wanted.first(), visit);
        return found;
    }
    own_lease ? visit(*own_lease) : table.each_overlapping(wanted, visit);
    if (table.has_readers()) table.each_reader_of(wanted, visit);
    return found;
}

}  // namespace redlock::detail
