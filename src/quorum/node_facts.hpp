// What a node says of itself, for its admission.
#ifndef REDLOCK_QUORUM_NODE_FACTS_HPP
#define REDLOCK_QUORUM_NODE_FACTS_HPP

#include "quorum/timing.hpp"

#include <cstdint>
#include <string>

namespace redlock::quorum {

using token_number = std::uint64_t;

struct node_facts {
    std::string id;        // of the server now: a new one after each loss that is not a FLUSHALL; empty: it does not say
    bool master{true};
    std::string admitted;  // the id in its record; empty: there is no record, or it has no high-water mark
    std::string mark;      // of the loss that somebody waits for; empty: none
    token_number high_water{0};
    duration max_ttl{};    // that its record allows
    std::string why_unidentified{};  // why its id is not known, and what to do about it; empty: its rules forbid what tells
};

}  // namespace redlock::quorum

#endif
