// The text of a state on a node: "RANK NUMBER TOKEN SIZE:WRITER" with the published bytes behind it. WRITER is the value of the lease that published it,
// and SIZE its length. The script that keeps it reads RANK and NUMBER; the rest is for clients. No I/O.
#ifndef REDLOCK_PROTOCOL_STATE_TEXT_HPP
#define REDLOCK_PROTOCOL_STATE_TEXT_HPP

#include "quorum/state_stamp.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace redlock::detail {

struct kept_state {
    quorum::state_stamp stamp;
    std::uint64_t token{0};  // that the lease had when it published it
    std::string_view writer{};  // the value of that lease
    std::string_view bytes{};
    std::string_view text{};  // all of it behind the stamp, as it is published
};

// What stands behind the stamp.
std::string state_text(std::uint64_t token, std::string_view writer, std::string_view bytes);

// The first two parts, whatever is behind them. None: it is no state.
std::optional<quorum::state_stamp> read_stamp(std::string_view whole);

// None: it is no state. The parts refer to `whole`.
std::optional<kept_state> read_state(std::string_view whole);

// The answer to a peek: who holds the lock, and the state behind it.
std::string packed_holder(std::string_view value);

struct seen_on_node {
    std::string_view holder{};  // the value of the lock's key
    std::string_view state{};
};
seen_on_node unpack(std::string_view answer);

}  // namespace redlock::detail

#endif
