#include "quorum/votes.hpp"

#include <cassert>

namespace redlock::quorum {

ballot::ballot(std::size_t nodes) noexcept : nodes_{static_cast<std::uint8_t>(nodes)} { assert(nodes >= 1 && nodes <= max_nodes); }

void ballot::take_back(std::size_t node, vote v) noexcept
{
    assert(of(node) == vote::granted && v != vote::granted && v != vote::pending);
    granted_.remove(node);
    voted_.remove(node);
    cast(node, v);
}

}  // namespace redlock::quorum
