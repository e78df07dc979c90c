// One attempt to acquire: what it sends to the nodes, and what their votes come to.
#ifndef REDLOCK_ACQUIRE_ATTEMPT_HPP
#define REDLOCK_ACQUIRE_ATTEMPT_HPP

#include "client/environment.hpp"
#include "lease/lease_record.hpp"
#include "quorum/acquire_machine.hpp"
#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace redlock::detail {

class acquisition;
class acquisitions;

inline std::chrono::microseconds to_microseconds(duration d) { return std::chrono::duration_cast<std::chrono::microseconds>(d); }

// One round with a value of its own, and a second one where tokens have to be confirmed. It outlives its decision, and its caller:
// late votes are still counted, or undone. Kept by its tickets in the rounds.
class attempt final : public vote_handler, public timer, public std::enable_shared_from_this<attempt> {
public:
    attempt(acquisitions& owner, acquisition& caller, std::shared_ptr<lease_record> what, time_point now);
    ~attempt();

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void on_sent(quorum::node_set const& nodes) override { record_->sent_to.add(nodes); }
    bool wanted(std::size_t, time_point) const override;
    void on_timer(time_point now) override;

    quorum::acquire_outcome outcome() const noexcept { return machine_.outcome(); }
    quorum::node_set const& granted() const noexcept { return granted_; }
    bool was_refused() const noexcept { return !refused_.empty(); }
    quorum::token_number counter() const noexcept { return counter_; }

    quorum::node_set const& refused() const noexcept { return refused_; }
    quorum::acquire_machine const& machine() const noexcept { return machine_; }
    std::shared_ptr<lease_record> const& record() const noexcept { return record_; }
    bool is_ttl_too_long() const noexcept;

    // Null once the attempt is over.
    acquisition* caller() const noexcept { return caller_; }
    void leave_caller() noexcept { caller_ = nullptr; }

private:
    class confirmation;

    void note(std::size_t node, reply const& answer, time_point now);
    void confirm();
    void on_confirmation(std::size_t node, reply const& answer, time_point now);
    void continue_with(quorum::acquire_outcome outcome, time_point now);

    acquisitions& owner_;
    acquisition* caller_;
    std::shared_ptr<lease_record> record_;
    quorum::acquire_machine machine_;
    quorum::per_node<std::uint64_t> granted_as_;         // the admission of each node that granted
    std::size_t too_long_{0};                            // nodes that do not allow such a ttl
    quorum::node_set granted_;  // also late
    quorum::node_set refused_;
    quorum::token_number counter_{0};                    // the largest in a refusal
};

}  // namespace redlock::detail

#endif
