// An attempt to get permits of a semaphore, of which nodes may give it different slots. Until slots are chosen it asks for any, and its record is about all
// slots of the semaphore; from then on it is an attempt for the exclusive locks that the chosen slots are, and its record is about these.
#ifndef REDLOCK_CORE_KINDS_PERMIT_ATTEMPT_HPP
#define REDLOCK_CORE_KINDS_PERMIT_ATTEMPT_HPP

#include "core/acquire/attempt.hpp"
#include "core/lease/lease_record.hpp"
#include "protocol/reply.hpp"
#include "quorum/node_set.hpp"
#include "quorum/per_node.hpp"
#include "quorum/permit_choice.hpp"
#include "quorum/slot_set.hpp"

#include <redlock/error.hpp>

#include <cstddef>
#include <memory>

namespace redlock::detail {

class permit_attempt final : public attempt {
public:
    // `from`: the slot that it prefers.
    permit_attempt(acquisitions& owner, acquisition& caller, std::shared_ptr<lease_record> what, time_point now, std::size_t from);

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void on_sent(quorum::node_set const& nodes, time_point now) override;
    bool wanted(std::size_t, time_point now) const override { return !has_chosen_ && is_open(now); }

    std::size_t from() const noexcept { return choice_.from(); }
    errc why_hopeless() const noexcept override;
    bool has_split_votes() const noexcept override { return !granted_.empty(); }

private:
    class second_round;

    bool is_awaited(std::size_t node) const noexcept override;
    void decide_without_the_rest(time_point now) override;
    void settle(time_point now);
    void choose(time_point now);
    void move(time_point now);
    void cast_votes(time_point now);
    void on_late_permits(std::size_t node, reply const& answer, time_point now);
    void give_back(std::size_t node, quorum::slot_set slots, time_point now);

    quorum::permit_choice choice_;
    quorum::per_node<quorum::token_number> counters_;
    quorum::node_set failed_;
    quorum::node_set asked_;  // the first round has left for them
    quorum::node_set not_reached_;  // the first round has not left for them when the slots are chosen, and never will
    bool has_chosen_{false};
    bool is_hopeless_{false};
};

}  // namespace redlock::detail

#endif
