// One release: a compare-and-delete on every node.
#ifndef REDLOCK_QUORUM_RELEASE_MACHINE_HPP
#define REDLOCK_QUORUM_RELEASE_MACHINE_HPP

#include "quorum/votes.hpp"

#include <cstddef>

namespace redlock::quorum {

enum class release_outcome {
    pending,
    released,     // a majority deleted the key: it was ours to the end
    lost,         // the key was already gone on so many nodes that the rest is no majority
    no_majority,  // too few answers to know; the keys expire by themselves
};

class release_machine {
public:
    explicit release_machine(electorate of) noexcept : votes_{of} {}

    // `granted`: deleted; `refused`: was not there any more, or is somebody else's. Returns the outcome when this vote decides.
    release_outcome on_vote(std::size_t node, vote v) noexcept
    {
        votes_.cast(node, v);
        return decide();
    }

    // The node timeout passed: the caller waits no longer. The release itself goes on.
    release_outcome on_timeout() noexcept
    {
        if (outcome_ != release_outcome::pending) return release_outcome::pending;
        outcome_ = release_outcome::no_majority;
        return outcome_;
    }

    bool is_pending(std::size_t node) const noexcept { return votes_.of(node) == vote::pending; }

    release_outcome outcome() const noexcept { return outcome_; }

    // Every node answered or failed: nothing is left to wait for.
    bool complete() const noexcept { return votes_.pending() == 0; }

private:
    release_outcome decide() noexcept
    {
        if (outcome_ != release_outcome::pending) return release_outcome::pending;
        if (votes_.majority_granted()) {
            outcome_ = release_outcome::released;
        } else if (votes_.majority_excluded()) {
            outcome_ = release_outcome::lost;
        } else if (votes_.majority_undecidable()) {
            outcome_ = release_outcome::no_majority;
        }
        return outcome_;
    }

    ballot votes_;
    release_outcome outcome_{release_outcome::pending};
};

}  // namespace redlock::quorum

#endif
