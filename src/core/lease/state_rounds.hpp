// The rounds of requests behind lease::publish() and lease::inherited(). What a lease inherits is written back when a majority does not have it
// (quorum/inherit_machine.hpp). docs/proof.md, "State that goes with a lock".
#ifndef REDLOCK_CORE_LEASE_STATE_ROUNDS_HPP
#define REDLOCK_CORE_LEASE_STATE_ROUNDS_HPP

#include "core/failed_votes.hpp"
#include "core/lease/lease_record.hpp"
#include "core/operation.hpp"
#include "protocol/reply.hpp"
#include "quorum/inherit_machine.hpp"
#include "quorum/node_set.hpp"
#include "quorum/state_stamp.hpp"
#include "quorum/votes.hpp"

#include <redlock/detail/core.hpp>
#include <redlock/published.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace redlock::detail {

class publications;

// What the nodes keep: the text behind the stamp.
struct stamped_state {
    quorum::state_stamp stamp;
    std::string text;
};

// What publish_round and inherit_round have in common: one round of requests for a lease, of which the caller is told once.
class state_round : public operation<state_round> {
public:
    virtual void time_is_up(time_point now) = 0;

    // The caller does not wait any more.
    virtual void abandon(error_code why) = 0;

protected:
    state_round(publications& owner, std::shared_ptr<lease_record> what, time_point now);
    ~state_round() = default;

    time_point ends() const noexcept override;

    // Why it came to nothing: the lease is lost (which this notes where it is over), or too few nodes answered.
    error_code why_not(time_point now) const;
    std::string reason_of(error_code ec) const;

    publications& owner_;
    time_point sent_;
    failed_votes failures_;
};

class inherit_round;

class publish_round final : public state_round {
public:
    publish_round(publications& owner, std::shared_ptr<lease_record> what, std::shared_ptr<stamped_state const> text, time_point now);

    void set_handler(plain_handler&& handler) { handler_ = std::move(handler); }

    // It writes back what is inherited, which these nodes have, and no caller waits for it but the heir.
    void write_back_for(std::shared_ptr<inherit_round> heir, quorum::node_set const& have_it);

    void send();
    void abandon(error_code why) override;

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void time_is_up(time_point now) override;
    bool wanted(std::size_t node, time_point now) const override;

private:
    void end(error_code ec);

    std::shared_ptr<stamped_state const> text_;
    quorum::ballot votes_;
    plain_handler handler_;
    std::shared_ptr<inherit_round> heir_;
};

class inherit_round final : public state_round {
public:
    inherit_round(publications& owner, std::shared_ptr<lease_record> what, state_handler&& handler, time_point now);

    void send();
    void written_back(error_code ec, std::string const& reason);
    void abandon(error_code why) override;

    void on_vote(std::size_t node, reply const& answer, time_point now) override;
    void time_is_up(time_point now) override;
    bool wanted(std::size_t node, time_point now) const override;

private:
    void decided(quorum::inherit_outcome outcome, time_point now);
    void finish(error_code ec);
    void finish(error_code ec, std::string const& reason);

    state_handler handler_;
    quorum::inherit_machine machine_;
    std::string newest_;  // as a node keeps it
};

}  // namespace redlock::detail

#endif
