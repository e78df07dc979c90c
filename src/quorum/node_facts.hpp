// Facts that a node tells about itself. quorum/admission decides with them whether the node may vote with tokens.
#ifndef REDLOCK_QUORUM_NODE_FACTS_HPP
#define REDLOCK_QUORUM_NODE_FACTS_HPP

#include "quorum/timing.hpp"
#include "quorum/token_number.hpp"

#include <string>

namespace redlock::quorum {

struct node_facts {
    // Names the server and its data: its replication id, a new one after each loss of data but FLUSHALL, with what stands before it (protocol/server_id.hpp).
    // Of a server that hides it, the id of its admission. Empty: not known.
    std::string id;
    bool master{true};
    std::string admitted;  // the id in the node's record of its admission; empty: there is no record, or no high-water mark
    std::string mark;  // names one loss of data, and is written by the first client that waits for its end; empty: none
    token_number high_water{0};
    duration max_ttl{};  // the longest ttl that the record allows
    duration without_loss{};  // so long before these facts came it has certainly lost nothing; zero: it does not show it, or is admitted
    std::string set{};  // the text of the node's record of its set (set_record.hpp); empty: there is none
    // Why the id is not known, and what to do about it; empty: it is known, or the user's permissions hide it.
    std::string why_unidentified{};
};

}  // namespace redlock::quorum

#endif
