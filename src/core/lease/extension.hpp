// One extension of one lease: what it asks the nodes, and what their votes come to.
#ifndef REDLOCK_CORE_LEASE_EXTENSION_HPP
#define REDLOCK_CORE_LEASE_EXTENSION_HPP

#include "core/failed_votes.hpp"
#include "core/lease/lease_record.hpp"
#include "core/lease/waiter.hpp"
#include "core/operation.hpp"
#include "protocol/reply.hpp"
#include "quorum/lease_machine.hpp"
#include "quorum/node_set.hpp"

#include <boost/asio/error.hpp>

#include <memory>
#include <utility>

namespace redlock::detail {

class lease_registry;

// Extensions that are due together share a round, and a script call on each node.
class extension final : public operation<extension> {
public:
    // `after_climb`: it sets the lease again after a climb, and does not start another one.
    extension(lease_registry& owner, std::shared_ptr<lease_record> what, time_point now, bool after_climb);

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void on_sent(quorum::node_set const& nodes, time_point now) override;
    // Asked just before it is sent: false once the lease has ended or is being released.
    bool wanted(std::size_t node, time_point now) const override;
    time_point ends() const override { return record_->machine.stops_at(); }
    void renew(command& request) const override { request = this->request(); }
    void time_is_up(time_point now);

    command request() const;

    // Nodes whose votes do not come, so that those of the others decide. Fewer than all.
    void does_not_ask(quorum::node_set const& nodes);

    // A call of lease::extend() waits for this extension, and gives up.
    void wait(std::shared_ptr<waiter> who);
    bool abandon(waiter const* who) { return waiters_.complete(who, asio::error::operation_aborted); }  // false: `who` does not wait for it

    time_point times_out() const noexcept { return machine_.times_out(); }

private:
    void decided(quorum::extend_outcome outcome, time_point now);
    void climb_if_needed(time_point now);

    lease_registry& owner_;
    quorum::extend_machine machine_;
    time_point began_;
    quorum::token_number needed_{0};  // the largest counter that a refusal told; the guard of the lease has to climb to it
    bool renews_counters_;
    bool may_climb_;  // false: this one follows a climb
    waiter_list waiters_;
    failed_votes votes_;  // if one of them asks why
};

}  // namespace redlock::detail

#endif
