// Decides from the answers of all Sentinels of a group which server is the primary, and for how many replicas a vote waits. No I/O.
#ifndef REDLOCK_NODE_SENTINEL_PRIMARY_CHOICE_HPP
#define REDLOCK_NODE_SENTINEL_PRIMARY_CHOICE_HPP

#include "node/sentinel/sentinel_answers.hpp"

#include <redlock/error.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::detail {

// A server that Sentinels call the primary.
struct primary_candidate {
    group_member primary;
    std::uint64_t epoch{0};
    std::vector<group_member> servers;  // all that most Sentinels know, the primary among them
    std::size_t sentinels{0};  // how many name it

    std::size_t size() const noexcept { return servers.size(); }  // S
};

struct primary_choice {
    std::vector<primary_candidate> candidates;  // the newest first; empty: there is none
    std::size_t answered{0};  // how many Sentinels know a master of this name, be it another one
    error_code why;  // why there is no candidate
    std::string words;
};

// What a client keeps of a group from answer to answer.
struct group_memory {
    // The largest epoch of a primary that most Sentinels have named. Answers that are older do not count, unless most Sentinels are older: then these were
    // set up anew.
    std::uint64_t newest_epoch{0};

    // Those of the group whose primary was used last. Sentinels that name none of them do not count, unless they are most of all.
    std::vector<group_member> servers{};
};

// A server belongs to the group if most of the Sentinels that answered know it, or half of them where no Sentinel watches another group. So a Sentinel that watches another group of the same name, or lists
// servers that are gone, is outvoted.
primary_choice choose_primary(std::vector<sentinel_report> const& reports, std::string const& master, group_memory const& known);

// The candidate to connect to: the first one, or the second one if the first is `refused`, the one that could not be used at the last attempt. It is no
// better now than one that other Sentinels name: those are asked in turn. Precondition: there are candidates.
primary_candidate const& candidate_to_use(primary_choice const& choice, std::optional<primary_candidate> const& refused);

// Whether most Sentinels of the group name this candidate. A single one could lie about the epoch, and then nobody would be believed any more who says
// the truth.
bool has_most_sentinels(primary_candidate const& candidate, std::size_t sentinels);

// The candidate for which a server that works should be left: most Sentinels that answered name another one than `current`, with a newer epoch. A single
// Sentinel that lies, or a message of it, cannot make clients leave. None: they stay.
primary_candidate const* successor_of(primary_candidate const& current, primary_choice const& choice);

// For how many replicas the votes of a group wait.
struct acknowledgements {
    std::uint16_t count{0};
    std::string problem;  // why the group cannot be a node, and what to do about it; empty: it can
};

// `wanted`: as configured; 0: S/2.
acknowledgements acknowledgements_of(primary_candidate const& group, std::uint16_t wanted, std::string const& master);

}  // namespace redlock::detail

#endif
