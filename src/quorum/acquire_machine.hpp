// One attempt to acquire: a round of grants and what its votes add up to. With tokens, a node's grant carries the last token that it
// gave; the largest of a majority is the attempt's, and it is a lease when a majority has confirmed it (docs/proof.md).
#ifndef REDLOCK_QUORUM_ACQUIRE_MACHINE_HPP
#define REDLOCK_QUORUM_ACQUIRE_MACHINE_HPP

#include "quorum/node_facts.hpp"
#include "quorum/node_set.hpp"
#include "quorum/tenure.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <cstddef>
#include <optional>

namespace redlock::quorum {

enum class acquire_outcome {
    pending,
    granted,             // a majority granted, and confirmed the token, in time
    contended,           // so many refused that no majority was left
    no_majority,         // neither: failed nodes leave open what it would have been
    validity_exhausted,  // a majority granted, but nothing is left of the lease
};

class acquire_machine {
public:
    // `sent`: the time before the first byte went out. Everything is counted from there (distlock page: T1). `t` lives as long as this.
    // `to_read`: readers share counters, so a grant that comes after the token was chosen may be older than the token, though the numbers are equal.
    acquire_machine(electorate of, time_point sent, timing const& t, bool to_read = false);
    acquire_machine(electorate of, time_point sent, timing&& t, bool to_read = false) = delete;

    // A node's vote. `counter`: the last token that it granted; always 0 without tokens. Returns the outcome when this vote decides
    // the attempt, `pending` otherwise. Votes after the decision still count for the tenure: a late grant makes the lease stand on
    // one node more.
    acquire_outcome on_vote(std::size_t node, vote v, time_point now, token_number counter = 0) noexcept;

    // A majority granted, with different tokens: the others must confirm the largest. True once.
    bool wants_confirmation(time_point now) noexcept;

    // A node's answer to that: refused when the key is not ours any more, or a larger token was seen there (the guard).
    acquire_outcome on_confirmation(std::size_t node, vote v, time_point now) noexcept;

    // The node timeout passed: what has not been answered counts as failed. Returns the outcome if this decides.
    acquire_outcome on_timeout(time_point now) noexcept;

    // Who refuses does not say which client has the key there. Of clients that asked at the same moment, each may be refused by a majority before the node
    // answers that granted it. With this a refusal is decided only when all nodes have voted, or by wait_no_more().
    void hear_all_nodes() noexcept { hears_all_nodes_ = true; }
    bool is_refused_but_waits() const noexcept
    {
        return hears_all_nodes_ && outcome_ == acquire_outcome::pending && votes_.majority_out_of_reach() && votes_.majority_excluded();
    }
    acquire_outcome wait_no_more(time_point now) noexcept
    {
        hears_all_nodes_ = false;
        return decide(now);
    }

    // More is known of the set since the attempt began. What nodes that are no members answer does not count, nor what they have answered. A smaller number is taken for a
    // majority only while nobody has granted, or while the ballot was undecided, and a majority is within reach: otherwise the attempt may have been given up.
    void set_electorate(electorate const& of, node_set const& members) noexcept
    {
        if (!votes_.counts_by(of) || members != members_) learn(of, members);
    }

    bool may_vote(std::size_t node) const noexcept { return members_.has(node); }

    acquire_outcome outcome() const noexcept { return outcome_; }
    ballot const& votes() const noexcept { return votes_; }
    // Which nodes hold the key, all of them until the deadline.
    tenure holders() const noexcept { return {votes_.of_whom(), held_, gone_, deadline()}; }
    time_point sent() const noexcept { return sent_; }
    time_point times_out() const noexcept { return asked_ + timing_->node_timeout; }

    // The last token of the attempt, once a majority has granted.
    std::optional<token_number> token() const noexcept { return token_; }

    // Whether a grant with this counter can stand for the attempt's token: it is that, or can still be raised to it.
    bool fits(token_number counter) const noexcept { return !token_ || counter <= *token_; }

    // Until when a grant of this round is good.
    time_point deadline() const noexcept { return sent_ + timing_->validity; }

private:
    void learn(electorate const& of, node_set const& members) noexcept;
    void note_grant(std::size_t node, token_number counter) noexcept;
    void choose_token() noexcept;
    acquire_outcome decide(time_point now) noexcept;

    timing const* timing_;
    time_point sent_;
    time_point asked_;  // the last round, the confirmations if there was one
    node_set members_;
    ballot votes_;
    node_set held_;  // also by grants that came after the decision
    node_set gone_;  // a confirmation found something else there
    node_set confirmed_;  // nodes with the largest counter of all grants, or that have raised theirs to it
    token_number largest_{0};  // of those counters
    std::optional<token_number> token_;
    bool wants_confirmation_{false};
    bool to_read_;
    bool hears_all_nodes_{false};
    acquire_outcome outcome_{acquire_outcome::pending};
};

}  // namespace redlock::quorum

#endif
