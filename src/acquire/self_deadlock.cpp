#include "acquire/self_deadlock.hpp"

#include "acquire/acquisition.hpp"
#include "acquire/lock_table.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace redlock::detail {

namespace {

bool is_awaited_by_its_holder(acquisition const& what, lease_record const& lease)
{
    bool found = false;
    lease.each_handle([&](lease_handle const& h) { found = found || (h.scope() && what.is_awaited_in(*h.scope())); });
    return found;
}

// The scopes that wait for this acquisition hold so many of the slots that it may have that the others are not enough for it.
bool is_short_of_its_own_permits(acquisition const& what, lock_table const& table)
{
    permit_pool const& pool = *what.request.what->pool();
    std::size_t held = 0;
    table.each_of_permits(pool.record, [&](lease_record const& lease) {
        if (!is_awaited_by_its_holder(what, lease)) return;
        for (std::uint32_t const slot : lease.what->slots())
            held += static_cast<std::size_t>(std::ranges::count(pool.slots, slot, &permit_pool::slot::number));
    });
    return held > 0 && held + what.request.what->wanted() > pool.slots.size();
}

}  // namespace

bool waits_for_itself(acquisition const& what, lease_record const* here, lock_table const& held)
{
    bool own = false;
    auto const visit = [&](lease_record const& lease) { own = own || is_awaited_by_its_holder(what, lease); };
    bool const reads = what.request.what->is_for_readers();
    if (what.request.what->is_for_permits()) {
        own = is_short_of_its_own_permits(what, held);
    } else if (here) {
        visit(*here);
    } else if (what.can_be_cancelled && !reads) {
        held.each_overlapping(*what.request.what, visit);
    }
    if (reads && what.can_be_cancelled) held.each_on(what.request.what->first(), visit);
    if (!reads && held.has_readers()) {  // an upgrade
        held.each_reader_of(*what.request.what, [&](lease_record const& lease) {
            visit(lease);
            own = own || (what.owner() != owner_id{} && lease.has_handles() && lease.owner() == what.owner());
        });
    }
    return own;
}

}  // namespace redlock::detail
