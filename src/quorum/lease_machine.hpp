// A lease from its acquisition to its loss: when to extend, what the answers mean, when to stop.
#ifndef REDLOCK_QUORUM_LEASE_MACHINE_HPP
#define REDLOCK_QUORUM_LEASE_MACHINE_HPP

#include "quorum/tenure.hpp"
#include "quorum/timing.hpp"
#include "quorum/votes.hpp"

#include <cstddef>
#include <cstdint>

namespace redlock::quorum {

enum class extend_outcome {
    pending,
    renewed,  // a majority renewed in this round
    held,     // fewer did, but together with earlier renewals the end of validity moved on
    unknown,  // too few answers; the lease runs until its old end, so try again while it does
    lost,     // the key is gone on so many nodes, or was never known to be there, that the rest is no majority
};

// What the watchdog has to do for a lease.
enum class lease_duty { none, extend, recreate, stop, stop_max_hold };

class lease_machine {
public:
    // Of what is no lease yet: nothing else may be asked of it but whether it has begun.
    lease_machine() = default;
    bool has_begun() const noexcept { return timing_ != nullptr; }

    // `t` lives as long as this.
    lease_machine(tenure const& holders, time_point sent, time_point acquired, timing const& t);
    lease_machine(tenure const& holders, time_point sent, time_point acquired, timing&& t) = delete;

    // When the watchdog has to look at this lease again.
    time_point due() const noexcept;

    // What is due at `now`. `early`: how much sooner than necessary an extension may go, to share a round with others.
    lease_duty duty(time_point now, duration early = {}) const noexcept;

    time_point valid_until() const noexcept { return holders_.valid_until(); }
    time_point stops_at() const noexcept;
    std::size_t held_on(time_point now) const noexcept { return holders_.held_on(now); }
    std::size_t members_that_hold(time_point now) const noexcept { return holders_.members_that_hold(now); }

    // On how many it may be at most: see tenure.
    std::size_t may_hold(time_point now) const noexcept { return holders_.may_hold(now); }

    // When it was won, or handed over.
    time_point acquired() const noexcept { return acquired_; }

    // The lease goes on under another holder, who has all of `max_hold` before it.
    void handed_over(time_point now) noexcept { acquired_ = now; }

    // How much of the validity is left before the lease has to be given up, if it is held for as long: `max_hold` begins anew with each holder.
    duration left(time_point now) const noexcept { return holders_.valid_until() - timing_->stop_margin - now; }

    // A node that could hold the key does not: an extension, which sets it again, shall come before one is due. Each time later than
    // the last time.
    void want_recreate(time_point now) noexcept;
    void forget_recreate() noexcept { recreate_at_ = time_point::max(); }

    // A node's clock was set forward: what it keeps beyond the ttl (lock_delay) makes up for so much of it. More is asked for at once.
    void on_step(std::size_t node, duration by, time_point now);

    // The nodes of the list that are members of the set now.
    void set_members(node_set const& members) { holders_.set_members(members); }

    // The set has other members than before, or another N.
    void set_electorate(electorate const& of) noexcept { holders_.set_electorate(of); }

    // Of a lease that goes on by a smaller majority of before: on how many nodes it stands, which have to confirm it before it may be set again where the
    // counter is above its guard. 0: a majority of those that count now has to.
    std::size_t former_majority() const noexcept { return holders_.former_majority(); }

    // An extension shall come at once.
    void extend_soon(time_point now) noexcept { extend_at_ = std::min(extend_at_, now); }

    // A vote that came after the majority: one node more holds the key.
    void on_late_grant(std::size_t node, time_point until) { holders_.holds(node, until); }

    // An answer that came after the majority: the key is not ours there.
    void on_late_refusal(std::size_t node) { holders_.gone(node); }

    // An extension starts: none is due until it was answered or timed out, and none sooner than an interval from now if
    // it succeeds.
    void on_extension_sent(time_point now) noexcept;
    void on_extension_done(extend_outcome outcome, time_point now) noexcept;

    // An extension that was given up has renewed the lease after all. The next one is due as if it had been in time.
    void on_late_renewal(time_point now) noexcept { extend_at_ = std::max(now, next_after_renewal()); }

    // An extension is due, but all nodes have an earlier one to answer.
    void wait_for_answers(time_point now) noexcept;

    tenure& holders() noexcept { return holders_; }
    tenure const& holders() const noexcept { return holders_; }
    timing const& times() const noexcept { return *timing_; }

private:
    duration recreate_delay() const noexcept;
    time_point retry_at(time_point now) const noexcept;
    time_point next_after_renewal() const noexcept { return holders_.valid_until() - timing_->validity + timing_->extend_interval; }

    timing const* timing_{nullptr};
    [[no_unique_address]] tenure holders_;
    std::uint8_t recreates_wanted_{0};  // how often, so far; lies in the padding of holders_
    time_point acquired_{};
    time_point extend_at_{};
    time_point recreate_at_{time_point::max()};
    time_point renew_at_{};  // when the next extension is due if the last one succeeds
};

// One extension's votes. Feeds the lease's tenure; votes after the decision still do.
class extend_machine {
public:
    extend_machine(electorate of, time_point sent, time_point valid_until_before, timing const& t) noexcept;

    // The request leaves for these nodes now. It may have waited: what they grant is good from now on.
    void on_sent(node_set const& nodes, time_point now);
    extend_outcome on_vote(lease_machine& lease, std::size_t node, vote v);
    extend_outcome on_timeout(lease_machine& lease) noexcept;

    extend_outcome outcome() const noexcept { return outcome_; }
    time_point times_out() const noexcept { return sent_ + node_timeout_; }

private:
    extend_outcome decide(lease_machine& lease) noexcept;

    time_point sent_;
    node_moments renewed_until_;
    time_point valid_until_before_;
    duration node_timeout_;
    duration validity_;
    ballot votes_;
    extend_outcome outcome_{extend_outcome::pending};
};

}  // namespace redlock::quorum

#endif
