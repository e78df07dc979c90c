#include "quorum/votes.hpp"

#include <cassert>

namespace redlock::quorum {

ballot::ballot(electorate of) noexcept : nodes_{static_cast<std::uint8_t>(of.nodes)}
{
    assert(of.nodes >= 1 && of.nodes <= max_nodes && of.members <= of.nodes && of.needed >= 1);
    set_electorate(of);
}

void ballot::void_vote(std::size_t node) noexcept
{
    if (!voted_.has(node)) return;
    granted_.remove(node);
    refused_.remove(node);
    failed_.add(node);
}

void ballot::take_back(std::size_t node, vote v) noexcept
{
    assert(of(node) == vote::granted && v != vote::granted && v != vote::pending);
    granted_.remove(node);
    voted_.remove(node);
    cast(node, v);
}

}  // namespace redlock::quorum
