// One attempt to acquire: what it sends to the nodes, and what their votes come to.
#ifndef REDLOCK_CORE_ATTEMPT_HPP
#define REDLOCK_CORE_ATTEMPT_HPP

#include "core/environment.hpp"
#include "core/hold.hpp"
#include "quorum/acquire_machine.hpp"
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
class attempt final : public voter, public alarm, public std::enable_shared_from_this<attempt> {
public:
    attempt(acquisitions& owner, acquisition& caller, std::shared_ptr<hold> what, time_point now);
    ~attempt();

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void on_sent(std::uint16_t nodes) override { hold_->touch(nodes); }
    bool wanted(std::size_t, time_point) const override;
    void on_alarm(time_point now) override;

    quorum::acquire_outcome outcome() const noexcept { return machine_.outcome(); }
    bool has_granted(std::size_t node) const noexcept { return (granted_ >> node & 1u) != 0; }
    bool was_refused() const noexcept { return refused_ != 0; }
    quorum::token_number counter() const noexcept { return counter_; }

private:
    friend class acquisitions;
    class confirmation;

    void note(std::size_t node, reply const& answer, time_point now);
    void confirm();
    void on_confirmation(std::size_t node, reply const& answer, time_point now);
    void continue_with(quorum::acquire_outcome outcome, time_point now);
    bool is_ttl_too_long() const noexcept;

    acquisitions& owner_;
    acquisition* caller_;  // null once the attempt is over
    std::shared_ptr<hold> hold_;
    quorum::acquire_machine machine_;
    quorum::per_node<std::uint64_t> granted_as_;         // the admission of each node that granted
    std::size_t too_long_{0};                            // nodes that do not allow such a ttl
    std::uint16_t granted_{0};                           // by node, also late
    std::uint16_t refused_{0};
    quorum::token_number counter_{0};                    // the largest in a refusal
};

}  // namespace redlock::detail

#endif
