#include "core/lease/climb.hpp"

#include "core/lease/lease_registry.hpp"

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::detail {

climb::climb(lease_registry& owner, std::shared_ptr<lease_record> what, quorum::token_number goal, time_point now)
    : operation{owner.env(), std::move(what)}, owner_{owner}, goal_{goal}, votes_{owner.env().voters}
{
    assert(goal_ > record_->guard());
    auto const& times = record_->what->under->times;
    ends_ = now + std::min(times.node_timeout, times.validity);
    if (auto const former = record_->machine.former_majority(); former > 0) {
        auto of = votes_.of_whom();
        of.needed = former;
        votes_.set_electorate(of);
        ends_ = std::min(ends_, record_->machine.stops_at());
    }
}

command climb::request() const
{
    command c = record_->request(verb::climb);
    c.change_more().goal = goal_;
    return c;
}

bool climb::wanted(std::size_t, time_point now) const { return !is_over() && record_->is_lease() && now < ends(); }

void climb::on_vote(std::size_t node, reply const& answer, time_point now)
{
    if (is_over()) return;
    votes_.cast(node, now < ends() ? answer.vote : vote::failed);
    if (votes_.majority_granted()) return end(true, now);
    if (votes_.majority_out_of_reach()) end(false, now);
}

// One that failed may have raised counters. They carry its mark, so that extensions are not refused there, and the next climb, which does not go less
// far, can start from them.
void climb::end(bool succeeded, time_point now)
{
    if (operation::end()) owner_.climb_ended(*record_, succeeded ? goal_ : 0, now);
}

void lease_registry::start_climb(std::shared_ptr<lease_record> const& what, quorum::token_number needed, time_point now)
{
    if (!what->is_lease() || what->reads() || needed <= what->guard() || what->climbs().is_under_way) return;
    auto& state = what->climbs();
    state.is_under_way = true;
    state.tried = std::max(state.tried, needed);
    auto const c = make_recycled<climb>(*this, what, state.tried, now);
    climb::ask(c, c->request(), c->ends());
}

void lease_registry::climb_ended(lease_record& what, quorum::token_number guard, time_point now)
{
    if (!what.is_lease()) return;
    what.climbs().is_under_way = false;
    if (guard == 0 || now >= what.machine.stops_at()) return;  // the next extension, if there is one, says again what is needed
    what.raise_guard(guard);
    start_extension(what.shared(), now, nullptr, true);
}

}  // namespace redlock::detail
