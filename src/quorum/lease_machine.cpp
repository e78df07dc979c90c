#include "quorum/lease_machine.hpp"

#include <algorithm>
#include <cassert>

namespace redlock::quorum {

namespace {

// The delay before another extension, after one that did not get its majority: a fraction of the time that is left. So the number of extensions
// is bounded by the logarithm of the validity.
constexpr int retry_fraction = 8;
constexpr duration min_retry = std::chrono::milliseconds{1};

// The first delay before a missing key is set again; each one after it is twice as long. Answers that come late may make it unnecessary.
constexpr int recreate_fraction = 32;  // of the interval between extensions
constexpr duration min_recreate = std::chrono::milliseconds{5};
constexpr duration max_recreate = std::chrono::hours{1};  // the next extension comes earlier; this only keeps the number small
constexpr int max_doublings = 20;  // of min_recreate, they are more than max_recreate

}  // namespace

lease_machine::lease_machine(tenure const& holders, time_point sent, time_point acquired, timing const& t)
    : timing_{&t}, holders_{holders}, acquired_{acquired}, extend_at_{sent + t.extend_interval}, renew_at_{extend_at_}
{
    assert(holders_.valid_until() > acquired);
}

time_point lease_machine::stops_at() const noexcept
{
    time_point const at = holders_.valid_until() - timing_->stop_margin;
    return timing_->max_hold ? std::min(at, acquired_ + *timing_->max_hold) : at;
}

time_point lease_machine::due() const noexcept
{
    return timing_->auto_extend ? std::min({extend_at_, recreate_at_, stops_at()}) : stops_at();
}

lease_duty lease_machine::duty(time_point now, duration early) const noexcept
{
    if (now >= stops_at()) {
        bool const too_long = timing_->max_hold && now >= acquired_ + *timing_->max_hold;
        bool const ended = now >= holders_.valid_until() - timing_->stop_margin;
        return too_long && !ended ? lease_duty::stop_max_hold : lease_duty::stop;
    }
    if (timing_->auto_extend && now + early >= extend_at_) return lease_duty::extend;
    if (timing_->auto_extend && now >= recreate_at_) return lease_duty::recreate;
    return lease_duty::none;
}

void lease_machine::want_recreate(time_point now) noexcept
{
    recreate_at_ = now + recreate_delay();
    if (recreates_wanted_ < max_doublings) ++recreates_wanted_;
}

duration lease_machine::recreate_delay() const noexcept
{
    auto const first = std::max<duration>(timing_->extend_interval / recreate_fraction, min_recreate);
    auto const longest = std::max(first, max_recreate);
    auto const times = 1 << recreates_wanted_;
    return first > longest / times ? longest : first * times;  // the product might not fit
}

void lease_machine::on_step(std::size_t node, duration by, time_point now)
{
    auto const delay = timing_->key_ttl - timing_->ttl;
    if (by <= delay) return;
    holders_.stepped(node, by - delay);
    extend_at_ = std::min(extend_at_, now);
}

void lease_machine::on_extension_sent(time_point now) noexcept
{
    assert(now < stops_at());
    forget_recreate();
    renew_at_ = now + timing_->extend_interval;
    // on_extension_done sets the next time. If it were never called, another extension would still go out.
    extend_at_ = std::max(renew_at_, now + timing_->node_timeout);
}

time_point lease_machine::retry_at(time_point now) const noexcept
{
    duration const left = stops_at() - now;
    return now + std::max(left / retry_fraction, min_retry);
}

void lease_machine::wait_for_answers(time_point now) noexcept
{
    forget_recreate();
    extend_at_ = std::max(retry_at(now), now + timing_->extend_interval / retry_fraction);  // so late that it does not come early
}

void lease_machine::on_extension_done(extend_outcome outcome, time_point now) noexcept
{
    assert(outcome != extend_outcome::pending);
    extend_at_ = std::max(renew_at_, next_after_renewal());
    if (outcome == extend_outcome::renewed || outcome == extend_outcome::lost) return;
    extend_at_ = std::min(extend_at_, retry_at(now));
}

extend_machine::extend_machine(electorate of, time_point sent, time_point valid_until_before, timing const& t) noexcept
    : sent_{sent},
      renewed_until_{of.nodes, node_set::all(of.nodes), sent + t.validity},
      valid_until_before_{valid_until_before},
      node_timeout_{t.node_timeout},
      validity_{t.validity},
      votes_{of}
{
}

void extend_machine::on_sent(node_set const& nodes, time_point now)
{
    for (std::size_t node = 0; node < votes_.nodes(); ++node)
        if (nodes.has(node)) renewed_until_.set(node, now + validity_);
}

extend_outcome extend_machine::on_vote(lease_machine& lease, std::size_t node, vote v)
{
    if (v == vote::granted) lease.holders().holds(node, renewed_until_[node]);
    if (v == vote::refused) lease.holders().gone(node);
    if (outcome_ != extend_outcome::pending) return extend_outcome::pending;
    votes_.cast(node, v);
    return decide(lease);
}

extend_outcome extend_machine::on_timeout(lease_machine& lease) noexcept
{
    if (outcome_ != extend_outcome::pending) return extend_outcome::pending;
    for (std::size_t node = 0; node < votes_.nodes(); ++node) votes_.cast(node, vote::failed);
    return decide(lease);
}

extend_outcome extend_machine::decide(lease_machine& lease) noexcept
{
    if (votes_.majority_granted()) {
        outcome_ = extend_outcome::renewed;
    } else if (lease.holders().majority_gone()) {
        outcome_ = extend_outcome::lost;
    } else if (votes_.pending() == 0) {
        outcome_ = lease.valid_until() > valid_until_before_ ? extend_outcome::held : extend_outcome::unknown;
        // The nodes that lost the key, and those that never held it, leave no majority: another extension cannot help.
        if (lease.valid_until() == time_point{}) outcome_ = extend_outcome::lost;
    }
    return outcome_;
}

}  // namespace redlock::quorum
