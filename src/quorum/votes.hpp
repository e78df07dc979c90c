// Counts the votes of N nodes; the machines of src/quorum decide by these counts.
//
// All of src/quorum is pure: the caller passes times and votes in, and nothing here reads a clock, touches a socket or depends on other parts of the
// library. Each machine takes events and answers with an outcome.
#ifndef REDLOCK_QUORUM_VOTES_HPP
#define REDLOCK_QUORUM_VOTES_HPP

#include "quorum/node_set.hpp"

#include <redlock/attempt_report.hpp>
#include <redlock/config.hpp>

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace redlock::quorum {

// The smallest number of nodes such that any two groups of that size share a node. Half of an even N is not enough.
constexpr std::size_t majority(std::size_t nodes) noexcept { return nodes / 2 + 1; }

// Who votes, and how many have to agree. A client's list has the members of its set, unless the set was changed since.
struct electorate {
    constexpr electorate(std::size_t of_list) noexcept : nodes{of_list}, members{of_list}, needed{majority(of_list)} {}  // which is the set
    constexpr electorate(std::size_t of_list, std::size_t members_in_list, std::size_t majority_of_set) noexcept
        : nodes{of_list}, members{members_in_list}, needed{majority_of_set}
    {
    }

    friend bool operator==(electorate const&, electorate const&) = default;

    // Whether votes can decide anything. Not while the generation of the set is unknown, nor with a list that has too few members.
    constexpr bool can_decide() const noexcept { return needed <= members; }

    std::size_t nodes;  // of the list
    std::size_t members;  // those of the list that are members of the set: the others never vote
    std::size_t needed;  // a majority of the set; more than `members`: nothing is decided by votes
};

// Whether so many nodes cannot have voted (`without`) that the others are no majority. While votes decide nothing: no majority of the list.
constexpr bool leaves_no_majority(electorate const& of, std::size_t without) noexcept
{
    return of.nodes < without + (of.can_decide() ? of.needed : majority(of.nodes));
}

// The votes of N nodes on one request.
class ballot {
public:
    explicit ballot(electorate of) noexcept;

    // Counts a node's first answer. Returns false and changes nothing if the node has voted already.
    bool cast(std::size_t node, vote v) noexcept
    {
        assert(v != vote::pending);
        if (voted_.has(node)) return false;
        voted_.add(node);
        (v == vote::granted ? granted_ : v == vote::refused ? refused_ : failed_).add(node);
        return true;
    }

    // Turns a granted vote into a refused or failed one.
    void take_back(std::size_t node, vote v) noexcept;

    // The node has no vote after all: what it has answered counts as failed.
    void void_vote(std::size_t node) noexcept;

    vote of(std::size_t node) const noexcept
    {
        assert(node < nodes_);
        if (granted_.has(node)) return vote::granted;
        if (refused_.has(node)) return vote::refused;
        return failed_.has(node) ? vote::failed : vote::pending;
    }
    std::size_t nodes() const noexcept { return nodes_; }
    std::size_t needed() const noexcept { return needed_; }
    electorate of_whom() const noexcept { return {nodes_, members_, needed_}; }

    // Whether it is counted by these numbers already.
    bool counts_by(electorate const& of) const noexcept { return needed_ == of.needed && members_ == of.members; }

    // The set has other members than was known. Precondition: of as many nodes.
    void set_electorate(electorate const& of) noexcept
    {
        members_ = static_cast<std::uint8_t>(of.members);
        needed_ = static_cast<std::uint8_t>(of.needed);
    }

    std::size_t granted() const noexcept { return granted_.size(); }
    std::size_t refused() const noexcept { return refused_.size(); }
    std::size_t failed() const noexcept { return failed_.size(); }
    std::size_t pending() const noexcept { return nodes_ - voted_.size(); }

    bool majority_granted() const noexcept { return granted() >= needed_; }

    // So many nodes refused that the others are no majority. The answer is no, whatever the failed nodes would have voted.
    bool majority_excluded() const noexcept { return refused() > 0 && members_ < refused() + needed_; }

    // Even all nodes of the list are no majority: most often since it is not known yet which generation the set is in.
    bool is_undecided() const noexcept { return needed_ > nodes_; }

    // No later vote can bring a majority of grants. While the ballot is undecided, with the next vote more may be known.
    bool majority_out_of_reach() const noexcept { return granted() + pending() < needed_ && (!is_undecided() || pending() == 0); }

    // No later vote can make majority_granted() or majority_excluded() true. A ballot ends as undecidable only then, so that the outcome does not
    // depend on the order of failures and refusals: "another client holds the lock" must not be reported as "too few nodes answered".
    bool majority_undecidable() const noexcept
    {
        return majority_out_of_reach() && (members_ >= refused() + pending() + needed_ || (pending() == 0 && refused() == 0));
    }

private:
    std::uint8_t nodes_;
    std::uint8_t members_;
    std::uint8_t needed_;
    node_set granted_;
    node_set refused_;
    node_set failed_;
    node_set voted_;  // all of these
};

}  // namespace redlock::quorum

#endif
