// Where the processes of one machine note since when they wait for nodes that lost their data. A process that lives only for a moment so goes on with
// the wait of the processes before it; docs/proof.md ("The wait") says why that is safe. quarantine_folder is the only implementation outside tests;
// admission_driver uses it.
#ifndef REDLOCK_CORE_ADMISSION_QUARANTINE_LOG_HPP
#define REDLOCK_CORE_ADMISSION_QUARANTINE_LOG_HPP

#include "quorum/admission.hpp"

#include <string>
#include <vector>

namespace redlock::detail {

class quarantine_log {
public:
    virtual ~quarantine_log() = default;

    // All sightings by the clock that this process has, of any node. Sightings before a reboot count for nothing: the clock began anew then.
    virtual std::vector<quorum::mark_sighting> read() = 0;

    // Of several sightings of one mark at one server, the earliest stays. `node`: the node's name, for people who read the log.
    virtual void add(quorum::mark_sighting const& s, std::string const& node) = 0;

    // The wait for this mark is over.
    virtual void remove(std::string const& id, std::string const& mark) = 0;

    // Why the log cannot be used, as the end of a sentence; empty: it can.
    virtual std::string problem() const = 0;
};

}  // namespace redlock::detail

#endif
