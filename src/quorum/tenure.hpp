// Which nodes are known to hold a lease, and until when.
#ifndef REDLOCK_QUORUM_TENURE_HPP
#define REDLOCK_QUORUM_TENURE_HPP

#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <cstddef>

namespace redlock::quorum {

class tenure {
public:
    explicit tenure(std::size_t nodes);

    // These nodes hold the key until `until`; those said that it is not ours there.
    tenure(std::size_t nodes, node_set const& held, node_set const& gone, time_point until) noexcept;

    // A node granted or renewed the key until `until`. A deadline never moves back.
    void holds(std::size_t node, time_point until) noexcept;

    // A node said that the key is not ours there.
    void gone(std::size_t node) noexcept;

    // The node forgets the key so much earlier than it said. What was never held stays so.
    void stepped(std::size_t node, duration by) noexcept;

    // The M-th largest deadline: until then, at least M nodes hold the key. The epoch when fewer than M ever did.
    time_point valid_until() const noexcept { return valid_until_; }

    // On how many nodes the key is known to be ours at `now`.
    std::size_t held_on(time_point now) const noexcept;

    // So many nodes said "gone" that the others are no majority.
    bool majority_gone() const noexcept;

private:
    std::size_t nodes() const noexcept { return until_.size(); }
    void count_anew() noexcept;

    [[no_unique_address]] per_node<time_point> until_;  // the epoch: never held
    node_set gone_;                                     // where those leave room
    time_point valid_until_{};                          // asked for much more often than one of those changes
};

}  // namespace redlock::quorum

#endif
