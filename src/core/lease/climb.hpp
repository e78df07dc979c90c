// A climb of a lease: one round that raises its guard above its token. The lease can then be set again on nodes whose counter or base is above the
// token: one that lost its data and was admitted again, or one where an attempt of somebody else raised the counter and failed.
// docs/proof.md, "Leases that outlive restarts", shows why the order of tokens stays as it is.
#ifndef REDLOCK_CORE_LEASE_CLIMB_HPP
#define REDLOCK_CORE_LEASE_CLIMB_HPP

#include "base/timer_queue.hpp"
#include "core/fanout.hpp"
#include "core/lease/lease_record.hpp"
#include "protocol/command.hpp"
#include "protocol/reply.hpp"
#include "quorum/votes.hpp"

#include <cstddef>
#include <memory>

namespace redlock::detail {

class lease_registry;

class climb final : public vote_handler, public timer, public std::enable_shared_from_this<climb> {
public:
    climb(lease_registry& owner, std::shared_ptr<lease_record> what, quorum::token_number goal, time_point now);
    ~climb();

    // What is asked of every node.
    command request() const;

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    bool wanted(std::size_t node, time_point now) const override;
    void on_timer(time_point now) override;

    // Answers that come later do not count: a node that is admitted again waited for the largest ttl, and not longer.
    time_point ends() const noexcept override { return ends_; }

private:
    void end(bool succeeded, time_point now);

    lease_registry& owner_;
    std::shared_ptr<lease_record> record_;
    quorum::token_number goal_;
    quorum::ballot votes_;
    time_point ends_;
    bool has_ended_{false};
};

}  // namespace redlock::detail

#endif
