// Decides what a lease inherits: the newest state in the answers of a majority. If fewer than a majority have it, it must be written back to a majority
// before the caller is told: otherwise a later holder could ask other nodes, and find an older one. docs/proof.md, "State that goes with a lock".
#ifndef REDLOCK_QUORUM_INHERIT_MACHINE_HPP
#define REDLOCK_QUORUM_INHERIT_MACHINE_HPP

#include "quorum/node_set.hpp"
#include "quorum/state_stamp.hpp"
#include "quorum/votes.hpp"

#include <cstddef>

namespace redlock::quorum {

enum class inherit_outcome {
    pending,
    known,  // a majority has the newest, or there is none
    to_be_written_back,  // fewer than a majority have the newest
    no_majority,
};

class inherit_machine {
public:
    explicit inherit_machine(electorate of) noexcept : votes_{of} {}

    // Counts a node's answer; a second one of the same node is ignored. `keeps`: no stamp, if the node keeps no state. Returns the outcome when this answer
    // decides, and `pending` otherwise.
    inherit_outcome on_answer(std::size_t node, vote v, state_stamp keeps) noexcept
    {
        if (decided_ || !votes_.cast(node, v)) return inherit_outcome::pending;
        if (v == vote::granted) {
            if (keeps > newest_) holders_ = {};
            if (keeps >= newest_) holders_.add(node);
            newest_ = keeps > newest_ ? keeps : newest_;
        }
        if (votes_.majority_granted()) {
            decided_ = true;
            bool const safe = newest_.is_none() || holders_.size() >= votes_.needed();
            return safe ? inherit_outcome::known : inherit_outcome::to_be_written_back;
        }
        return votes_.majority_out_of_reach() ? give_up() : inherit_outcome::pending;
    }

    // No answer that comes later counts.
    inherit_outcome give_up() noexcept
    {
        if (decided_) return inherit_outcome::pending;
        decided_ = true;
        return inherit_outcome::no_majority;
    }

    // From then on newest() and holders() do not change.
    bool is_decided() const noexcept { return decided_; }

    state_stamp const& newest() const noexcept { return newest_; }

    // The nodes that answered that they have it.
    node_set const& holders() const noexcept { return holders_; }

private:
    ballot votes_;
    state_stamp newest_;
    node_set holders_;
    bool decided_{false};
};

}  // namespace redlock::quorum

#endif
