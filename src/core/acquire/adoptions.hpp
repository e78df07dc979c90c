// client::adopt(): leases that were detached go on here. An adoption asks all nodes to replace the value of the ticket by a new one, in rounds, until
// quorum/adopt_machine says what became of it. docs/proof.md, "Leases that travel".
#ifndef REDLOCK_CORE_ACQUIRE_ADOPTIONS_HPP
#define REDLOCK_CORE_ACQUIRE_ADOPTIONS_HPP

#include "core/acquire/lock_table.hpp"
#include "core/environment.hpp"
#include "core/failed_votes.hpp"
#include "core/lease/lease_record.hpp"
#include "core/lease/lease_registry.hpp"
#include "core/lease/releases.hpp"
#include "core/lease/ticket.hpp"
#include "core/operation.hpp"
#include "protocol/reply.hpp"
#include "quorum/adopt_machine.hpp"

#include <redlock/lease.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace redlock::detail {

class adoptions;

class adoption final : public timed<adoption> {
public:
    adoption(adoptions& owner, std::shared_ptr<lease_core> of, ticket what, std::shared_ptr<resolved_options const> under,
             lease_handler whom_to_tell, time_point now);

    double clock_drift() const noexcept { return under_->options.clock_drift; }
    bool is_fenced() const noexcept { return ticket_.fenced; }
    std::size_t nodes() const noexcept { return ticket_.nodes; }  // N, when the ticket was made

    // Completes with `why`; what nodes have replaced is released. Does nothing if it is complete already.
    void abandon(error_code why);

    // The same for one that was not started.
    void refuse(error_code why);

    void time_is_up(time_point now);

private:
    friend class adoptions;
    class round;

    void start(time_point now);
    void ask(time_point now);
    void on_vote(std::size_t node, reply const& answer, time_point sent, time_point now);
    bool act_on(quorum::adopt_outcome outcome, time_point now);
    void adopted(time_point now);
    void on_generation();
    errc why_not() const;
    void finish(error_code ec, lease held);
    std::string reason_of(error_code ec) const;

    adoptions& owner_;
    std::shared_ptr<lease_core> from_;  // until it is started
    ticket const ticket_;
    std::shared_ptr<resolved_options const> under_;
    lease_handler handler_;
    time_point started_;
    std::optional<quorum::adopt_machine> machine_;
    time_point gives_up_at_{};
    time_point first_sent_{};
    std::uint32_t rounds_{0};
    quorum::node_set has_answered_;  // nodes that have answered once, or are known to be away
    quorum::node_set too_long_;  // nodes that do not allow such a ttl
    failed_votes failures_;  // of the last round
    quorum::node_set of_other_sets_;  // nodes for which the client's list of nodes is the wrong one
};

class adoptions : public ongoing<adoption> {
public:
    adoptions(environment& env, lease_registry& leases, releases& all_releases, lock_table& locks)
        : env_{env}, leases_{leases}, releases_{all_releases}, locks_{locks}
    {
    }

    void start(std::shared_ptr<adoption> const& what, time_point now);

    // The client's nodes are of another generation of their set. `stays`: those that are members of it.
    void on_generation();

    // Says whether a ticket is of other nodes than these, as far as that can be known.
    std::function<bool(ticket const&)> is_elsewhere;

private:
    friend class adoption;

    environment& env_;
    lease_registry& leases_;
    releases& releases_;
    lock_table& locks_;
};

}  // namespace redlock::detail

#endif
