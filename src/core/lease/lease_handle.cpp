#include "core/lease/lease_handle.hpp"

#include "core/lease/lease_record.hpp"
#include "core/lease/ticket.hpp"

#include <algorithm>
#include <chrono>

namespace redlock::detail {

extra_lease_handle::extra_lease_handle(std::shared_ptr<lease_record> const& in) : lease_handle{place::extra, in->first.owner}, keeps{in} {}

lease_handle::cold_state& lease_handle::cold()
{
    if (where_ == place::in_the_record) return of().cold_of_first();
    auto& own = static_cast<extra_lease_handle*>(this)->cold;
    if (!own) own = std::make_unique<cold_state>();
    return *own;
}

lease_handle::cold_state* lease_handle::cold_or_null() const noexcept
{
    return where_ == place::in_the_record ? of().cold_of_first_or_null() : static_cast<extra_lease_handle const*>(this)->cold.get();
}

ticket lease_handle::to_ticket(std::vector<std::uint32_t> servers) const
{
    lease_record const& record = of();
    ticket t;
    t.keys.emplace_back(record.what->first());
    t.keys.insert(t.keys.end(), record.what->others().begin(), record.what->others().end());
    t.text = record.what->text();
    t.value = record.value.text();
    t.fenced = record.is_fenced();
    t.guard = t.fenced ? record.guard() : 0;
    t.token = token.load(std::memory_order_relaxed);
    t.last_token = std::max(last_token, t.token);
    t.ttl = std::chrono::duration_cast<std::chrono::milliseconds>(record.what->under->times.ttl);
    t.lock_delay = record.what->under->key_ttl - t.ttl;
    t.nodes = static_cast<std::uint8_t>(nodes());
    t.servers = std::move(servers);
    return t;
}

}  // namespace redlock::detail
