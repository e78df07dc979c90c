#include "quorum/tenure.hpp"

#include <algorithm>
#include <cassert>

namespace redlock::quorum {

tenure::tenure(electorate of)
    : until_{of.nodes}, members_{static_cast<std::uint8_t>(of.members)}, needed_{static_cast<std::uint8_t>(of.needed)}
{
    assert(of.nodes >= 1 && of.nodes <= max_nodes);
}

tenure::tenure(electorate of, node_set const& held, node_set const& gone, time_point until) noexcept
    : until_{of.nodes, held, until},
      gone_{gone},
      members_{static_cast<std::uint8_t>(of.members)},
      needed_{static_cast<std::uint8_t>(of.needed)}
{
    if (held.size() >= needed_) valid_until_ = until;
}

void tenure::holds(std::size_t node, time_point until)
{
    if (left_.has(node)) until = std::min(until, valid_until_);
    if (until <= until_[node]) return;
    gone_.remove(node);
    until_.set(node, until);
    if (until <= valid_until_) return;
    // The M-th largest end has changed only if M ends are above the old one now.
    if (held_on(valid_until_) >= needed_) count_anew();
}

void tenure::gone(std::size_t node)
{
    if (!left_.has(node)) gone_.add(node);
    bool const stands_on_it = until_[node] >= valid_until_;
    until_.set(node, {});
    if (stands_on_it) count_anew();
}

void tenure::stepped(std::size_t node, duration by)
{
    assert(by >= duration::zero());
    constexpr time_point long_ago{duration{1}};  // not time_point{}: it has held the key
    if (until_[node] <= long_ago) return;
    bool const stands_on_it = until_[node] >= valid_until_;
    until_.set(node, std::max(until_[node] - std::min(by, until_[node] - long_ago), long_ago));
    if (stands_on_it && until_[node] < valid_until_) count_anew();
}

time_point tenure::counted() const noexcept { return until_.latest(needed_); }

void tenure::count_anew() noexcept { valid_until_ = counted(); }

void tenure::let_go(node_set const& members)
{
    for (std::size_t node = 0; node < nodes(); ++node) {
        if (members.has(node)) {
            left_.remove(node);
        } else if (!left_.has(node)) {
            left_.add(node);
            gone_.remove(node);
            until_.set(node, std::min(until_[node], valid_until_));
        }
    }
}

void tenure::need(std::uint8_t nodes) noexcept
{
    needed_ = nodes;
    valid_until_ = std::max(valid_until_, counted());
}

std::size_t tenure::former_majority() const noexcept
{
    if (valid_until_ <= counted()) return 0;
    for (std::size_t node = 0; node < nodes(); ++node)
        if (left_.has(node) && until_[node] >= valid_until_) return 0;
    return until_.later_than(valid_until_ - duration{1});
}

std::size_t tenure::members_that_hold(time_point now) const noexcept
{
    auto all = held_on(now);
    for (std::size_t node = 0; !left_.empty() && node < nodes(); ++node)
        if (left_.has(node) && until_[node] > now) --all;
    return all;
}

std::size_t tenure::may_hold(time_point now) const noexcept
{
    std::size_t all = members_;
    if (left_.empty()) return all;
    for (std::size_t node = 0; node < nodes(); ++node)
        if (left_.has(node) && until_[node] > now) ++all;
    return all;
}

bool tenure::majority_gone() const noexcept
{
    if (gone_.empty() || needed_ > nodes() || valid_until_ > counted()) return false;
    return may_hold({}) < gone_.size() + needed_;
}

}  // namespace redlock::quorum
