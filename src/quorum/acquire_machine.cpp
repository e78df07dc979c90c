#include "quorum/acquire_machine.hpp"

#include <cassert>

namespace redlock::quorum {

acquire_machine::acquire_machine(std::size_t nodes, time_point sent, timing const& t) noexcept
    : timing_{t}, sent_{sent}, votes_{nodes}, holders_{nodes}
{
}

acquire_outcome acquire_machine::on_vote(std::size_t node, vote v, time_point now) noexcept
{
    assert(now >= sent_);
    if (v == vote::granted) holders_.holds(node, deadline());
    if (outcome_ != acquire_outcome::pending) return acquire_outcome::pending;
    votes_.cast(node, v);
    return decide(now);
}

acquire_outcome acquire_machine::on_timeout(time_point now) noexcept
{
    if (outcome_ != acquire_outcome::pending) return acquire_outcome::pending;
    for (std::size_t node = 0; node < votes_.nodes(); ++node) votes_.cast(node, vote::failed);
    return decide(now);
}

acquire_outcome acquire_machine::decide(time_point now) noexcept
{
    if (votes_.majority_granted()) {
        // What is left must be enough to act: a lease that would be lost at once is none.
        bool const in_time = now < holders_.valid_until() - timing_.stop_margin;
        outcome_ = in_time ? acquire_outcome::granted : acquire_outcome::validity_exhausted;
    } else if (votes_.majority_excluded()) {
        outcome_ = acquire_outcome::contended;
    } else if (votes_.majority_undecidable()) {
        outcome_ = acquire_outcome::no_majority;
    }
    return outcome_;
}

}  // namespace redlock::quorum
