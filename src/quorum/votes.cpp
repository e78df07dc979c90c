#include "quorum/votes.hpp"

#include <cassert>

namespace redlock::quorum {

ballot::ballot(std::size_t nodes) noexcept : nodes_{static_cast<std::uint16_t>(nodes)} { assert(nodes >= 1 && nodes <= nodes_max); }

bool ballot::cast(std::size_t node, vote v) noexcept
{
    assert(node < nodes_);
    assert(v != vote::pending);
    if (of(node) != vote::pending) return false;
    mask const bit = static_cast<mask>(1u << node);
    switch (v) {
    case vote::granted: granted_ |= bit, ++granted_count_; break;
    case vote::refused: refused_ |= bit, ++refused_count_; break;
    case vote::failed: failed_ |= bit, ++failed_count_; break;
    case vote::pending: return false;
    }
    assert((granted_ & refused_) == 0 && (granted_ & failed_) == 0 && (refused_ & failed_) == 0);
    return true;
}

void ballot::take_back(std::size_t node, vote v) noexcept
{
    assert(of(node) == vote::granted && v != vote::granted && v != vote::pending);
    granted_ = static_cast<mask>(granted_ & ~(1u << node));
    --granted_count_;
    cast(node, v);
}

vote ballot::of(std::size_t node) const noexcept
{
    assert(node < nodes_);
    mask const bit = static_cast<mask>(1u << node);
    if (granted_ & bit) return vote::granted;
    if (refused_ & bit) return vote::refused;
    if (failed_ & bit) return vote::failed;
    return vote::pending;
}

}  // namespace redlock::quorum
