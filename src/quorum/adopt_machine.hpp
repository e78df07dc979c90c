// The adoption of a lease that was detached: rounds that ask nodes to replace its value, until a majority has done so, or cannot do so any more. A node
// that refused has something else there, which no later round changes. docs/proof.md ("Leases that travel") says why one adoption at the most succeeds.
#ifndef REDLOCK_QUORUM_ADOPT_MACHINE_HPP
#define REDLOCK_QUORUM_ADOPT_MACHINE_HPP

#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/tenure.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <cstddef>
#include <cstdint>

namespace redlock::quorum {

enum class adopt_outcome {
    pending,
    adopted,  // a majority has the new value, for long enough
    over,  // so many nodes refused that no majority is left: the lease has ended, or is somebody else's
};

class adopt_machine {
public:
    // `t` lives as long as this.
    adopt_machine(electorate of, timing const& t) noexcept
        : timing_{&t}, holders_{of}, members_{node_set::all(of.nodes)}, granted_as_{of.nodes}
    {
    }
    adopt_machine(electorate of, timing&& t) = delete;

    // The set has other members than before, or another N. What nodes that are no members answer does not count.
    void set_electorate(electorate const& of, node_set const& members) noexcept;

    // A node's vote on a request of a round that was sent at `sent`. `admission` tells apart what the node was admitted as: a node counts as one server
    // only. Returns the outcome when this vote decides the adoption, `pending` otherwise.
    adopt_outcome on_vote(std::size_t node, vote v, std::uint64_t admission, time_point sent, time_point now) noexcept;

    // The answers that are missing count as failed for this round. Returns the outcome if what is known of the set by now decides.
    adopt_outcome on_timeout(time_point now) noexcept;

    adopt_outcome outcome() const noexcept { return outcome_; }

    // The nodes that refused. They need not be asked again.
    node_set const& refused() const noexcept { return refused_; }

    node_set const& granted() const noexcept { return granted_; }

    // Which nodes have the new value, and until when.
    tenure const& holders() const noexcept { return holders_; }

private:
    adopt_outcome decide(time_point now) noexcept;

    timing const* timing_;
    tenure holders_;
    node_set members_;
    node_set granted_;
    node_set refused_;
    per_node<std::uint64_t> granted_as_;  // meaningful for nodes of granted_
    adopt_outcome outcome_{adopt_outcome::pending};
};

}  // namespace redlock::quorum

#endif
