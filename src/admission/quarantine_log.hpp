// Where the processes of one machine tell each other since when they wait for nodes that lost their memory. Whoever lives for a moment
// goes on with the wait of those before him; docs/proof.md ("The wait") says what that rests on.
#ifndef REDLOCK_ADMISSION_QUARANTINE_LOG_HPP
#define REDLOCK_ADMISSION_QUARANTINE_LOG_HPP

#include "quorum/admission.hpp"

#include <string>
#include <vector>

namespace redlock::detail {

class quarantine_log {
public:
    virtual ~quarantine_log() = default;

    // What was seen by this machine's clock as it is now, of any node.
    virtual std::vector<quorum::mark_sighting> read() = 0;

    // Of several sightings of one mark at one server, the earliest stays. `node`: for people who look there.
    virtual void add(quorum::mark_sighting const& s, std::string const& node) = 0;

    // Its wait is over.
    virtual void remove(std::string const& id, std::string const& mark) = 0;

    // What went wrong, as a clause; empty: nothing.
    virtual std::string problem() const = 0;
};

}  // namespace redlock::detail

#endif
