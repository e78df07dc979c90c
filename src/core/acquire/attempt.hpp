// One attempt to acquire: what it sends to the nodes, and what their votes come to.
#ifndef REDLOCK_CORE_ACQUIRE_ATTEMPT_HPP
#define REDLOCK_CORE_ACQUIRE_ATTEMPT_HPP

#include "core/lease/lease_record.hpp"
#include "core/operation.hpp"
#include "protocol/reply.hpp"
#include "quorum/acquire_machine.hpp"
#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/votes.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace redlock::detail {

class acquisition;
class acquisitions;

// While it is not known how many have to agree, a majority of the list: see attempt::hear.
inline quorum::electorate known_voters(quorum::electorate const& of) noexcept
{
    return of.can_decide() ? of : quorum::electorate{of.nodes};
}

inline std::chrono::microseconds to_microseconds(duration d) { return std::chrono::duration_cast<std::chrono::microseconds>(d); }

// One round with a value of its own, and a second one where tokens have to be confirmed. It outlives its decision, and its caller:
// late votes are still counted, or rolled back. A kind of lock may derive one that asks otherwise.
class attempt : public operation<attempt> {
public:
    attempt(acquisitions& owner, acquisition& caller, std::shared_ptr<lease_record> what, time_point now);
    virtual ~attempt() = default;

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void on_sent(quorum::node_set const& nodes, time_point now) override;
    bool wanted(std::size_t, time_point now) const override { return is_open(now); }
    void time_is_up(time_point now);

    quorum::acquire_outcome outcome() const noexcept { return machine_.outcome(); }
    quorum::node_set const& granted() const noexcept { return granted_; }
    bool was_refused() const noexcept { return !refused_.empty(); }
    quorum::token_number counter() const noexcept { return counter_; }

    quorum::node_set const& refused() const noexcept { return refused_; }
    quorum::acquire_machine const& machine() const noexcept { return machine_; }
    std::shared_ptr<lease_record> const& record() const noexcept { return record_; }
    bool is_ttl_too_long() const noexcept { return too_long_ > 0 && leaves_no_majority(too_long_ + of_other_sets_); }
    bool is_of_wrong_set() const noexcept { return leaves_no_majority(of_other_sets_); }

    // Why a later attempt will not be won either, whatever the outcome; errc{}: nothing is known.
    virtual errc why_hopeless() const noexcept { return errc{}; }

    // Of one that was refused: some nodes granted it.
    virtual bool has_split_votes() const noexcept { return machine_.votes().granted() > 0; }
    void hear_all_nodes() noexcept { machine_.hear_all_nodes(); }

    // Null once the attempt is over.
    acquisition* caller() const noexcept { return caller_; }
    void leave_caller() noexcept { caller_ = nullptr; }

    // Completes the verdicts of the caller, who has those that did not grant.
    void report_grants() const;

protected:
    bool is_open(time_point now) const;
    bool is_of_this_era() const noexcept;  // the client's nodes are of the generation of their set that they were of when it began
    bool leaves_no_majority(std::size_t without) const noexcept;
    // Whether the node has not answered what it was asked last.
    virtual bool is_awaited(std::size_t node) const noexcept { return machine_.votes().of(node) == vote::pending; }
    void on_answer(std::size_t node, reply const& answer, time_point now);
    void count(std::size_t node, reply const& answer, time_point now);
    void hear(std::size_t node, reply const& answer, time_point now);
    // What a decision without the answers that are missing comes to.
    virtual void decide_without_the_rest(time_point now);
    void note(std::size_t node, reply const& answer, time_point now);

    acquisitions& owner_;
    acquisition* caller_;
    quorum::acquire_machine machine_;
    quorum::per_node<std::uint64_t> granted_as_;  // the admission of each node that granted
    std::uint32_t const era_;
    bool const is_reported_;
    quorum::per_node<time_point> granted_at_;  // if it is reported
    std::size_t too_long_{0};  // nodes that do not allow such a ttl
    std::size_t of_other_sets_{0};  // nodes for which the client's list of nodes is the wrong one
    quorum::node_set granted_;  // also late
    quorum::node_set refused_;
    quorum::token_number counter_{0};  // the largest in a refusal

private:
    class confirmation;

    void confirm();
    void on_confirmation(std::size_t node, reply const& answer, time_point now);
    void continue_with(quorum::acquire_outcome outcome, time_point now);
};

}  // namespace redlock::detail

#endif
