#include "quorum/adopt_machine.hpp"

namespace redlock::quorum {

void adopt_machine::set_electorate(electorate const& of, node_set const& members) noexcept
{
    members_ = members;
    for (std::size_t node = 0; node < of.nodes; ++node)
        if (!members.has(node)) granted_.remove(node);
    holders_.set_members(members);
    holders_.set_electorate(of);
}

adopt_outcome adopt_machine::on_vote(std::size_t node, vote v, std::uint64_t admission, time_point sent, time_point now) noexcept
{
    if (outcome_ != adopt_outcome::pending || !members_.has(node)) return adopt_outcome::pending;
    if (v == vote::granted) {
        // Admitted anew since: it is not the server that granted.
        if (granted_.has(node) && granted_as_[node] != admission) return adopt_outcome::pending;
        granted_.add(node);
        granted_as_[node] = admission;
        refused_.remove(node);
        holders_.holds(node, sent + timing_->validity);
    } else if (v == vote::refused) {
        refused_.add(node);
        holders_.gone(node);
    }
    return decide(now);
}

adopt_outcome adopt_machine::on_timeout(time_point now) noexcept
{
    return outcome_ == adopt_outcome::pending ? decide(now) : adopt_outcome::pending;
}

adopt_outcome adopt_machine::decide(time_point now) noexcept
{
    if (now < holders_.valid_until() - timing_->stop_margin) {
        outcome_ = adopt_outcome::adopted;
    } else if (holders_.majority_gone()) {
        outcome_ = adopt_outcome::over;
    }
    return outcome_;
}

}  // namespace redlock::quorum
