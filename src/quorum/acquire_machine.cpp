#include "quorum/acquire_machine.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::quorum {

acquire_machine::acquire_machine(std::size_t nodes, time_point sent, timing const& t)
    : timing_{&t}, sent_{sent}, asked_{sent}, votes_{nodes}, holders_{nodes}, counters_{nodes}
{
}

acquire_outcome acquire_machine::on_vote(std::size_t node, vote v, time_point now, token_number counter) noexcept
{
    assert(now >= sent_);
    if (v == vote::granted && !fits(counter)) v = vote::refused;  // it has seen more since: confirming would fail there
    if (v == vote::granted) holders_.holds(node, deadline());
    if (outcome_ != acquire_outcome::pending) return acquire_outcome::pending;
    if (!votes_.cast(node, v)) return acquire_outcome::pending;
    if (v == vote::granted) {
        counters_[node] = counter;
        if (token_ == counter) confirmed_.add(node);
        if (!token_ && votes_.majority_granted()) choose_token();
    }
    return decide(now);
}

void acquire_machine::choose_token() noexcept
{
    token_number largest = 0;
    for (std::size_t node = 0; node < votes_.nodes(); ++node)
        if (votes_.of(node) == vote::granted) largest = std::max(largest, counters_[node]);
    token_ = largest;
    for (std::size_t node = 0; node < votes_.nodes(); ++node)
        if (votes_.of(node) == vote::granted && counters_[node] == largest) confirmed_.add(node);
    wants_confirmation_ = confirmed_.size() < majority(votes_.nodes());
}

bool acquire_machine::wants_confirmation(time_point now) noexcept
{
    if (wants_confirmation_) asked_ = now;
    return std::exchange(wants_confirmation_, false);
}

acquire_outcome acquire_machine::on_confirmation(std::size_t node, vote v, time_point now) noexcept
{
    bool const claimed = votes_.of(node) == vote::granted && !confirmed_.has(node);
    if (outcome_ != acquire_outcome::pending || !claimed) return acquire_outcome::pending;
    if (v == vote::granted) {
        confirmed_.add(node);
    } else {
        votes_.take_back(node, v);
        if (v == vote::refused) holders_.gone(node);
    }
    return decide(now);
}

acquire_outcome acquire_machine::on_timeout(time_point now) noexcept
{
    if (outcome_ != acquire_outcome::pending) return acquire_outcome::pending;
    for (std::size_t node = 0; node < votes_.nodes(); ++node) {
        votes_.cast(node, vote::failed);
        if (token_ && votes_.of(node) == vote::granted && !confirmed_.has(node)) votes_.take_back(node, vote::failed);
    }
    return decide(now);
}

acquire_outcome acquire_machine::decide(time_point now) noexcept
{
    if (confirmed_.size() >= majority(votes_.nodes())) {
        // What is left must be enough to act: a lease that would be lost at once is none.
        bool const in_time = now < holders_.valid_until() - timing_->stop_margin;
        outcome_ = in_time ? acquire_outcome::granted : acquire_outcome::validity_exhausted;
    } else if (votes_.majority_excluded()) {
        outcome_ = acquire_outcome::contended;
    } else if (votes_.majority_undecidable()) {
        outcome_ = acquire_outcome::no_majority;
    }
    return outcome_;
}

}  // namespace redlock::quorum
