// One attempt to acquire: a round of SET NX PX and what its votes add up to.
#ifndef REDLOCK_QUORUM_ACQUIRE_MACHINE_HPP
#define REDLOCK_QUORUM_ACQUIRE_MACHINE_HPP

#include "quorum/tenure.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <cstddef>

namespace redlock::quorum {

enum class acquire_outcome {
    pending,
    granted,             // a majority granted, in time
    contended,           // so many refused that no majority was left
    no_majority,         // neither: failed nodes leave open what it would have been
    validity_exhausted,  // a majority granted, but nothing is left of the lease
};

class acquire_machine {
public:
    // `sent`: the time before the first byte went out. Everything is counted from there (distlock page: T1).
    acquire_machine(std::size_t nodes, time_point sent, timing const& t) noexcept;

    // A node's vote. Returns the outcome when this vote decides the attempt, `pending` otherwise. Votes after the
    // decision still count for the tenure: a late grant makes the lease stand on one node more.
    acquire_outcome on_vote(std::size_t node, vote v, time_point now) noexcept;

    // The node timeout passed: nodes that have not answered count as failed. Returns the outcome if this decides.
    acquire_outcome on_timeout(time_point now) noexcept;

    acquire_outcome outcome() const noexcept { return outcome_; }
    ballot const& votes() const noexcept { return votes_; }
    tenure const& holders() const noexcept { return holders_; }
    time_point sent() const noexcept { return sent_; }
    time_point times_out() const noexcept { return sent_ + timing_.node_timeout; }

    // Until when a grant of this round is good.
    time_point deadline() const noexcept { return sent_ + timing_.validity; }

private:
    acquire_outcome decide(time_point now) noexcept;

    timing timing_;
    time_point sent_;
    ballot votes_;
    tenure holders_;
    acquire_outcome outcome_{acquire_outcome::pending};
};

}  // namespace redlock::quorum

#endif
