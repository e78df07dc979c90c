// src/quorum: what the votes of N nodes mean. Pure decisions: time and votes are passed in, nothing here reads a clock,
// touches a socket or knows any other part of the library. Each machine takes events and answers with an outcome.
#ifndef REDLOCK_QUORUM_VOTES_HPP
#define REDLOCK_QUORUM_VOTES_HPP

#include "quorum/node_set.hpp"

#include <redlock/attempt_report.hpp>
#include <redlock/config.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace redlock::quorum {

// N/2 + 1. Half of an even N is not enough: two halves do not share a node.
constexpr std::size_t majority(std::size_t nodes) noexcept { return nodes / 2 + 1; }

// The votes of N nodes on one question.
class ballot {
public:
    explicit ballot(std::size_t nodes) noexcept;

    // A node's first answer counts; returns false, and changes nothing, for any further one.
    bool cast(std::size_t node, vote v) noexcept
    {
        assert(v != vote::pending);
        if (of(node) != vote::pending) return false;
        (v == vote::granted ? granted_ : v == vote::refused ? refused_ : failed_).add(node);
        return true;
    }

    // A vote that turned out to be worth less: from granted to refused or failed.
    void take_back(std::size_t node, vote v) noexcept;

    vote of(std::size_t node) const noexcept
    {
        assert(node < nodes_);
        if (granted_.has(node)) return vote::granted;
        if (refused_.has(node)) return vote::refused;
        return failed_.has(node) ? vote::failed : vote::pending;
    }
    std::size_t nodes() const noexcept { return nodes_; }
    std::size_t granted() const noexcept { return granted_.size(); }
    std::size_t refused() const noexcept { return refused_.size(); }
    std::size_t failed() const noexcept { return failed_.size(); }
    std::size_t pending() const noexcept { return nodes_ - granted() - refused() - failed(); }

    bool majority_granted() const noexcept { return granted() >= majority(nodes_); }

    // So many refused that the rest is no majority: whatever the failed nodes would have said, the answer is no.
    bool majority_excluded() const noexcept { return nodes_ - refused() < majority(nodes_); }

    // No later vote can bring a majority of grants.
    bool majority_out_of_reach() const noexcept { return granted() + pending() < majority(nodes_); }

    // No later vote can bring a majority of grants, nor its exclusion. Both, so that the verdict does not depend on whether a
    // failed node or a refusal was heard of first: "somebody holds it" must not look like "cannot know".
    bool majority_undecidable() const noexcept { return majority_out_of_reach() && nodes_ - refused() - pending() >= majority(nodes_); }

private:
    std::uint8_t nodes_;
    node_set granted_;
    node_set refused_;
    node_set failed_;
};

}  // namespace redlock::quorum

#endif
