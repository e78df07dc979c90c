#include "quorum/tenure.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace redlock::quorum {

tenure::tenure(std::size_t nodes) : until_{nodes} { assert(nodes >= 1 && nodes <= max_nodes); }

tenure::tenure(std::size_t nodes, node_set const& held, node_set const& gone, time_point until) noexcept : until_{nodes}, gone_{gone}
{
    for (std::size_t node = 0; node < nodes; ++node)
        if (held.has(node)) until_[node] = until;
    if (held.size() >= majority(nodes)) valid_until_ = until;
}

void tenure::holds(std::size_t node, time_point until) noexcept
{
    gone_.remove(node);
    if (until <= until_[node]) return;
    until_[node] = until;
    if (until <= valid_until_) return;
    // The M-th largest end has changed only if M ends are above the old one now.
    if (held_on(valid_until_) >= majority(nodes())) count_anew();
}

void tenure::gone(std::size_t node) noexcept
{
    gone_.add(node);
    until_[node] = {};
    count_anew();
}

void tenure::stepped(std::size_t node, duration by) noexcept
{
    assert(by >= duration::zero());
    constexpr time_point long_ago{duration{1}};
    if (until_[node] <= long_ago) return;
    until_[node] = std::max(until_[node] - std::min(by, until_[node] - long_ago), long_ago);
    count_anew();
}

void tenure::count_anew() noexcept
{
    std::array<duration::rep, max_nodes> latest_first;  // not of time_point, whose constructor would set all elements to zero first
    std::size_t sorted = 0;
    for (time_point const each : until_) {
        auto const at = each.time_since_epoch().count();
        std::size_t slot = sorted++;
        for (; slot > 0 && latest_first[slot - 1] < at; --slot) latest_first[slot] = latest_first[slot - 1];
        latest_first[slot] = at;
    }
    valid_until_ = time_point{duration{latest_first[majority(nodes()) - 1]}};
}

std::size_t tenure::held_on(time_point now) const noexcept
{
    return static_cast<std::size_t>(std::count_if(until_.begin(), until_.end(), [now](time_point until) { return until > now; }));
}

bool tenure::majority_gone() const noexcept { return nodes() - gone_.size() < majority(nodes()); }

}  // namespace redlock::quorum
