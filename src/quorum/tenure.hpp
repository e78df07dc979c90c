// Records on which nodes the key of a lease is known to be ours, and until when, and computes the validity of the lease from that. acquire_machine
// makes it of the first votes. lease_machine keeps it, and extensions update it.
#ifndef REDLOCK_QUORUM_TENURE_HPP
#define REDLOCK_QUORUM_TENURE_HPP

#include "quorum/node_moments.hpp"
#include "quorum/node_set.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace redlock::quorum {

class tenure {
public:
    tenure() noexcept : until_{0} {}  // of no nodes
    explicit tenure(electorate of);

    // The nodes `held` have the key until `until`. The nodes `gone` answered that the key is not ours there.
    tenure(electorate of, node_set const& held, node_set const& gone, time_point until) noexcept;

    // A node granted or extended the key until `until`. An earlier `until` than before changes nothing.
    void holds(std::size_t node, time_point until);

    // A node answered that the key is not ours there.
    void gone(std::size_t node);

    // A node's clock was set forward, so the key expires there earlier by `by`. Nodes that never held the key are not changed.
    void stepped(std::size_t node, duration by);

    // The nodes of the list that are members of the set now. What others granted counts until the moment that the lease is valid until, and no longer; what
    // they refuse says nothing.
    void set_members(node_set const& members)
    {
        if (!left_.empty() || members.size() < nodes()) let_go(members);
    }

    // The set has other members than before, or another N. If more nodes are a majority than before, what a majority granted before counts until the moment that
    // the lease is valid until, and no longer, as long as each node that it stands on has the key until then.
    void set_electorate(electorate const& of) noexcept
    {
        members_ = static_cast<std::uint8_t>(of.members);
        if (of.needed != needed_) need(static_cast<std::uint8_t>(of.needed));
    }

    // Usually the M-th largest end: until then, at least M nodes (a majority) hold the key. time_point{}: fewer than M nodes have ever held it.
    time_point valid_until() const noexcept { return valid_until_; }

    // Of a lease that goes on by a smaller majority of before (set_electorate), the number of nodes that it stands on. 0: it counts as usual, or one of these is no
    // member any more.
    std::size_t former_majority() const noexcept;

    // On how many nodes the key is ours at `now`.
    std::size_t held_on(time_point now) const noexcept { return until_.later_than(now); }

    // The same without those that have left the set: the lease cannot be kept by them.
    std::size_t members_that_hold(time_point now) const noexcept;

    // Nodes that answered that the key is not ours there; and those that have not confirmed it beyond the moment that the lease is valid until.
    node_set const& gone() const noexcept { return gone_; }
    node_set not_renewed() const noexcept
    {
        node_set found;
        for (std::size_t node = 0; node < nodes(); ++node)
            if (!gone_.has(node) && !left_.has(node) && until_[node] <= valid_until_) found.add(node);
        return found;
    }

    // How many nodes may have the key at `now`: the members of the set, and servers that have left it since they granted.
    std::size_t may_hold(time_point now) const noexcept;

    // Whether the nodes where the key is gone are so many that the others are no majority: neither of those that count now, nor of those that counted when
    // they granted. Never while all nodes of the list are none: more may be known of the set in a moment.
    bool majority_gone() const noexcept;

private:
    std::size_t nodes() const noexcept { return until_.size(); }
    void let_go(node_set const& members);
    void need(std::uint8_t nodes) noexcept;
    time_point counted() const noexcept;
    void count_anew() noexcept;

    time_point valid_until_{};  // cached, since valid_until() is called much more often than a member changes
    [[no_unique_address]] node_moments until_;  // time_point{}: the key is not ours there: never held, or gone
    node_set gone_;  // lies in the padding of until_, as the next ones do
    node_set left_;  // no members any more
    // No bit-fields: g++ 12 lays what follows a [[no_unique_address]] tenure over the last of them.
    std::uint8_t members_{0};
    std::uint8_t needed_{1};
};

}  // namespace redlock::quorum

#endif
