// One attempt to acquire: what it sends to the nodes, and what their votes come to.
#ifndef REDLOCK_CORE_ACQUIRE_ATTEMPT_HPP
#define REDLOCK_CORE_ACQUIRE_ATTEMPT_HPP

#include "core/environment.hpp"
#include "core/lease/lease_record.hpp"
#include "protocol/reply.hpp"
#include "quorum/acquire_machine.hpp"
#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/permit_choice.hpp"
#include "quorum/slot_set.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

namespace redlock::detail {

class acquisition;
class acquisitions;

inline std::chrono::microseconds to_microseconds(duration d) { return std::chrono::duration_cast<std::chrono::microseconds>(d); }

// One round with a value of its own, and a second one where tokens have to be confirmed. It outlives its decision, and its caller:
// late votes are still counted, or rolled back. Kept alive by its requests in fanout. What is about permits is in permit_attempt.cpp.
class attempt final : public vote_handler, public timer, public std::enable_shared_from_this<attempt> {
public:
    attempt(acquisitions& owner, acquisition& caller, std::shared_ptr<lease_record> what, time_point now);
    ~attempt();

    // The attempt is about permits. `from`: the slot that it prefers.
    void chooses_slots(std::size_t from);

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void on_sent(quorum::node_set const& nodes, time_point now) override;
    bool wanted(std::size_t, time_point now) const override { return is_open(now) && !(permits_ && permits_->asked); }
    void on_timer(time_point now) override;

    quorum::acquire_outcome outcome() const noexcept { return machine_.outcome(); }
    quorum::node_set const& granted() const noexcept { return granted_; }
    bool was_refused() const noexcept { return !refused_.empty(); }
    quorum::token_number counter() const noexcept { return counter_; }

    quorum::node_set const& refused() const noexcept { return refused_; }
    quorum::acquire_machine const& machine() const noexcept { return machine_; }
    std::shared_ptr<lease_record> const& record() const noexcept { return record_; }
    bool is_ttl_too_long() const noexcept { return too_long_ > 0 && leaves_no_majority(too_long_ + of_other_sets_); }
    bool is_of_wrong_set() const noexcept { return leaves_no_majority(of_other_sets_); }
    bool is_of_another_number_of_permits() const noexcept { return permits_ && permits_->choice.is_of_another_number(); }

    // Of one that was refused: some nodes granted it.
    bool has_split_votes() const noexcept { return machine_.votes().granted() > 0 || (permits_ && !granted_.empty()); }
    void hear_all_nodes() noexcept { machine_.hear_all_nodes(); }

    // Null once the attempt is over.
    acquisition* caller() const noexcept { return caller_; }
    void leave_caller() noexcept { caller_ = nullptr; }

    // Completes the verdicts of the caller, who has those that did not grant.
    void report_grants() const;

private:
    class confirmation;
    class second_round;

    // Permits: until the slots are chosen, record_ is about all slots of the semaphore, and from then on about the chosen ones.
    struct permit_state : cold_state_base {
        permit_state(quorum::permit_choice among, std::size_t nodes) : choice{std::move(among)}, counters{nodes} {}

        quorum::permit_choice choice;
        quorum::per_node<quorum::token_number> counters;
        quorum::node_set failed;
        quorum::node_set not_reached;  // the first round has not left for them when the slots are chosen, and never will
        std::shared_ptr<lease_record> asked{};  // the record before; null: nothing is chosen
        bool is_hopeless{false};
    };

    bool is_open(time_point now) const;
    bool is_of_this_era() const noexcept;  // the client's nodes are of the generation of their set that they were of when it began
    bool leaves_no_majority(std::size_t without) const noexcept;
    bool is_awaited(std::size_t node) const noexcept;
    void on_answer(std::size_t node, reply const& answer, time_point now);
    void count(std::size_t node, reply const& answer, time_point now);
    void on_permits(std::size_t node, reply const& answer, time_point now);
    void settle(time_point now);
    void choose(time_point now);
    void move(time_point now);
    void cast_votes(time_point now);
    void on_late_permits(std::size_t node, reply const& answer, time_point now);
    void give_back(std::size_t node, quorum::slot_set slots, time_point now);

    void note(std::size_t node, reply const& answer, time_point now);
    void confirm();
    void on_confirmation(std::size_t node, reply const& answer, time_point now);
    void continue_with(quorum::acquire_outcome outcome, time_point now);

    acquisitions& owner_;
    acquisition* caller_;
    std::shared_ptr<lease_record> record_;
    quorum::acquire_machine machine_;
    quorum::per_node<std::uint64_t> granted_as_;  // the admission of each node that granted
    std::uint32_t era_;
    bool const is_reported_;
    quorum::per_node<time_point> granted_at_;  // if it is reported
    std::size_t too_long_{0};  // nodes that do not allow such a ttl
    std::size_t of_other_sets_{0};  // nodes for which the client's list of nodes is the wrong one
    quorum::node_set granted_;  // also late
    quorum::node_set refused_;
    quorum::token_number counter_{0};  // the largest in a refusal
    std::unique_ptr<permit_state> permits_;  // null: the attempt is not about permits
};

}  // namespace redlock::detail

#endif
