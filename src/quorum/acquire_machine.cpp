#include "quorum/acquire_machine.hpp"

#include <cassert>
#include <utility>

namespace redlock::quorum {

acquire_machine::acquire_machine(electorate of, time_point sent, timing const& t, bool to_read)
    : timing_{&t}, sent_{sent}, asked_{sent}, members_{node_set::all(of.nodes)}, votes_{of}, to_read_{to_read}
{
}

void acquire_machine::learn(electorate const& of, node_set const& members) noexcept
{
    bool const was_in_reach = !votes_.majority_out_of_reach();
    members_ = members;
    for (std::size_t node = 0; node < votes_.nodes(); ++node) {
        if (members.has(node)) continue;
        votes_.void_vote(node);
        held_.remove(node);
        gone_.remove(node);
        confirmed_.remove(node);
    }
    if (!was_in_reach) return;  // it has been given up, and no other number may bring it back
    bool const is_open = votes_.granted() == 0 || votes_.is_undecided();
    if (of.needed < votes_.needed() && !is_open) return;
    votes_.set_electorate(of);
    if (!token_ && votes_.majority_granted()) choose_token();
}

acquire_outcome acquire_machine::on_vote(std::size_t node, vote v, time_point now, token_number counter) noexcept
{
    assert(now >= sent_);
    if (!may_vote(node)) v = vote::failed;
    if (v == vote::granted && !fits(counter)) v = vote::refused;  // it has seen more since: confirming would fail there
    if (v == vote::granted) {
        held_.add(node);
        gone_.remove(node);
    }
    if (outcome_ != acquire_outcome::pending) return acquire_outcome::pending;
    if (!votes_.cast(node, v)) return acquire_outcome::pending;
    if (v == vote::granted) note_grant(node, counter);
    return decide(now);
}

void acquire_machine::note_grant(std::size_t node, token_number counter) noexcept
{
    if (counter > largest_) {
        assert(!token_);
        largest_ = counter;
        confirmed_ = {};
    }
    if (counter == largest_ && !(to_read_ && token_)) confirmed_.add(node);
    if (!token_ && votes_.majority_granted()) choose_token();
}

// The largest counter of a majority.
void acquire_machine::choose_token() noexcept
{
    token_ = largest_;
    wants_confirmation_ = confirmed_.size() < votes_.needed();
}

bool acquire_machine::wants_confirmation(time_point now) noexcept
{
    if (wants_confirmation_) asked_ = now;
    return std::exchange(wants_confirmation_, false);
}

acquire_outcome acquire_machine::on_confirmation(std::size_t node, vote v, time_point now) noexcept
{
    bool const claimed = votes_.of(node) == vote::granted && !confirmed_.has(node);
    // Also after the decision, since the lease may be made of the holders later.
    if (v == vote::refused && held_.has(node) && !confirmed_.has(node)) {
        held_.remove(node);
        gone_.add(node);
    }
    if (outcome_ != acquire_outcome::pending || !claimed) return acquire_outcome::pending;
    if (v == vote::granted) confirmed_.add(node);
    else votes_.take_back(node, v);
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
    if (confirmed_.size() >= votes_.needed()) {
        // What is left must be enough to act: a lease that would be lost at once is none.
        bool const in_time = now < deadline() - timing_->stop_margin;
        outcome_ = in_time ? acquire_outcome::granted : acquire_outcome::validity_exhausted;
    } else if (votes_.majority_out_of_reach()) {  // without that neither of these is
        if (votes_.majority_excluded()) {
            if (!hears_all_nodes_ || votes_.pending() == 0) outcome_ = acquire_outcome::contended;
        } else if (votes_.majority_undecidable()) {
            outcome_ = acquire_outcome::no_majority;
        }
    }
    return outcome_;
}

}  // namespace redlock::quorum
