#include "quorum/tenure.hpp"

#include <algorithm>
#include <cassert>
#include <functional>

namespace redlock::quorum {

tenure::tenure(std::size_t nodes) noexcept : nodes_{nodes} { assert(nodes >= 1 && nodes <= nodes_max); }

void tenure::holds(std::size_t node, time_point until) noexcept
{
    assert(node < nodes_);
    until_[node] = std::max(until_[node], until);
    gone_[node] = false;
}

void tenure::gone(std::size_t node) noexcept
{
    assert(node < nodes_);
    until_[node] = time_point{};
    gone_[node] = true;
}

void tenure::stepped(std::size_t node, duration by) noexcept
{
    assert(node < nodes_ && by >= duration::zero());
    constexpr time_point long_ago{duration{1}};
    if (until_[node] > long_ago) until_[node] = std::max(until_[node] - std::min(by, until_[node] - long_ago), long_ago);
}

time_point tenure::valid_until() const noexcept
{
    auto sorted = until_;
    auto const end = sorted.begin() + static_cast<std::ptrdiff_t>(nodes_);
    auto const nth = sorted.begin() + static_cast<std::ptrdiff_t>(majority(nodes_) - 1);
    std::nth_element(sorted.begin(), nth, end, std::greater<>{});
    return *nth;
}

std::size_t tenure::held_on(time_point now) const noexcept
{
    auto const end = until_.begin() + static_cast<std::ptrdiff_t>(nodes_);
    return static_cast<std::size_t>(std::count_if(until_.begin(), end, [now](time_point until) { return until > now; }));
}

bool tenure::majority_gone() const noexcept
{
    auto const end = gone_.begin() + static_cast<std::ptrdiff_t>(nodes_);
    auto const gone = static_cast<std::size_t>(std::count(gone_.begin(), end, true));
    return nodes_ - gone < majority(nodes_);
}

}  // namespace redlock::quorum
