// A climb of a lease: one round that raises its guard above its token. The lease can then be set again on nodes whose counter or base is above the
// token: one that lost its data and was admitted again, or one where an attempt of somebody else raised the counter and failed.
// docs/proof.md, "Leases that outlive restarts", shows why the order of tokens stays as it is.
#ifndef REDLOCK_CORE_LEASE_CLIMB_HPP
#define REDLOCK_CORE_LEASE_CLIMB_HPP

#include "core/lease/lease_record.hpp"
#include "core/operation.hpp"
#include "protocol/command.hpp"
#include "protocol/reply.hpp"
#include "quorum/votes.hpp"

#include <cstddef>
#include <memory>

namespace redlock::detail {

class lease_registry;

class climb final : public operation<climb> {
public:
    climb(lease_registry& owner, std::shared_ptr<lease_record> what, quorum::token_number goal, time_point now);

    // What is asked of every node.
    command request() const;

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    bool wanted(std::size_t node, time_point now) const override;
    void time_is_up(time_point now) { end(false, now); }

    // Answers that come later do not count: a node that is admitted again waited for the largest ttl, and not longer.
    time_point ends() const noexcept override { return ends_; }

private:
    void end(bool succeeded, time_point now);

    lease_registry& owner_;
    quorum::token_number goal_;
    quorum::ballot votes_;
    time_point ends_;
};

}  // namespace redlock::detail

#endif
