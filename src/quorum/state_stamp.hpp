// The order of the states that holders of one lock publish. docs/proof.md, "State that goes with a lock".
#ifndef REDLOCK_QUORUM_STATE_STAMP_HPP
#define REDLOCK_QUORUM_STATE_STAMP_HPP

#include "quorum/token_number.hpp"

#include <compare>
#include <cstdint>

namespace redlock::quorum {

// Which of two states is newer: the one of the later holder, and of one holder the later one. `rank` is the guard of the lease that published it, and
// `number` says which of its publications it is. Nothing was published: 0, 0.
struct state_stamp {
    token_number rank{0};
    std::uint64_t number{0};

    friend auto operator<=>(state_stamp const&, state_stamp const&) = default;
    bool is_none() const noexcept { return rank == 0; }
};

}  // namespace redlock::quorum

#endif
