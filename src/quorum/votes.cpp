#include "quorum/votes.hpp"

#include <cassert>

namespace redlock::quorum {

ballot::ballot(std::size_t nodes) noexcept : nodes_{static_cast<std::uint8_t>(nodes)} { assert(nodes >= 1 && nodes <= nodes_max); }

bool ballot::cast(std::size_t node, vote v) noexcept
{
    assert(node < nodes_);
    assert(v != vote::pending);
    if (of(node) != vote::pending) return false;
    switch (v) {
    case vote::granted: granted_.add(node); return true;
    case vote::refused: refused_.add(node); return true;
    case vote::failed: failed_.add(node); return true;
    case vote::pending: break;
    }
    return false;
}

void ballot::take_back(std::size_t node, vote v) noexcept
{
    assert(of(node) == vote::granted && v != vote::granted && v != vote::pending);
    granted_.remove(node);
    cast(node, v);
}

vote ballot::of(std::size_t node) const noexcept
{
    assert(node < nodes_);
    if (granted_.has(node)) return vote::granted;
    if (refused_.has(node)) return vote::refused;
    if (failed_.has(node)) return vote::failed;
    return vote::pending;
}

}  // namespace redlock::quorum
