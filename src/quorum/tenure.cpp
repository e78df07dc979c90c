#include "quorum/tenure.hpp"

#include <algorithm>
#include <array>
#include <cassert>

namespace redlock::quorum {

tenure::tenure(electorate of)
    : until_{of.nodes}, members_{static_cast<std::uint8_t>(of.members)}, needed_{static_cast<std::uint8_t>(of.needed)}
{
    assert(of.nodes >= 1 && of.nodes <= max_nodes);
}

tenure::tenure(electorate of, node_set const& held, node_set const& gone, time_point until) noexcept
    : until_{of.nodes}, gone_{gone}, members_{static_cast<std::uint8_t>(of.members)}, needed_{static_cast<std::uint8_t>(of.needed)}
{
    for (std::size_t node = 0; node < of.nodes; ++node)
        if (held.has(node)) until_[node] = until;
    if (held.size() >= needed_) valid_until_ = until;
}

void tenure::holds(std::size_t node, time_point until) noexcept
{
    gone_.remove(node);
    if (until <= until_[node]) return;
    until_[node] = until;
    if (until <= valid_until_) return;
    // The M-th largest end has changed only if M ends are above the old one now.
    if (held_on(valid_until_) >= needed_) count_anew();
}

void tenure::gone(std::size_t node) noexcept
{
    if (!left_.has(node)) gone_.add(node);
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
    // A set that has grown may need more than the client names.
    valid_until_ = needed_ > sorted ? time_point{} : time_point{duration{latest_first[needed_ - 1u]}};
}

void tenure::has_members(node_set const& members) noexcept
{
    for (std::size_t node = 0; node < nodes(); ++node) {
        if (members.has(node)) {
            left_.remove(node);
        } else if (!left_.has(node)) {
            left_.add(node);
            gone_.remove(node);
            until_[node] = std::min(until_[node], valid_until_);
        }
    }
}

void tenure::is_of(electorate const& of) noexcept
{
    members_ = static_cast<std::uint8_t>(of.members);
    if (of.needed == needed_) return;
    needed_ = static_cast<std::uint8_t>(of.needed);
    count_anew();
}

std::size_t tenure::held_on(time_point now) const noexcept
{
    return static_cast<std::size_t>(std::count_if(until_.begin(), until_.end(), [now](time_point until) { return until > now; }));
}

bool tenure::majority_gone() const noexcept
{
    if (gone_.empty()) return false;
    std::size_t may_hold = members_;
    for (std::size_t node = 0; node < nodes(); ++node)
        if (left_.has(node) && until_[node] != time_point{}) ++may_hold;
    return may_hold < gone_.size() + needed_;
}

}  // namespace redlock::quorum
