#include "acquire/self_deadlock.hpp"

#include "acquire/acquisition.hpp"
#include "acquire/lock_table.hpp"

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

bool is_an_upgrade(acquisition const& asking, lock_table const& table)
{
    bool found = false;
    table.each_reader_of(*asking.request.what, [&](lease_record const& lease) {
        bool const is_of_owner = asking.owner() != owner_id{} && lease.has_handles() && lease.owner() == asking.owner();
        found = found || is_of_owner || is_awaited_by_its_holder(asking, lease);
    });
    return found;
}

}  // namespace

bool waits_for_itself(acquisition const& asking, lease_record const* own_lease, lock_table const& table)
{
    auto const& wanted = *asking.request.what;
    bool found = false;
    auto const visit = [&](lease_record const& lease) { found = found || is_awaited_by_its_holder(asking, lease); };
    bool const reads = wanted.is_for_readers();
    if (wanted.is_for_permits()) {
        found = is_short_of_its_own_permits(asking, table);
    } else if (own_lease) {
        visit(*own_lease);
    } else if (asking.can_be_cancelled && !reads) {  // what cannot be cancelled is awaited in no scope: this saves the search
        table.each_overlapping(wanted, visit);
    }
    if (reads && asking.can_be_cancelled) table.each_on(wanted.first(), visit);
    if (!reads && table.has_readers()) found = found || is_an_upgrade(asking, table);
    return found;
}

}  // namespace redlock::detail
