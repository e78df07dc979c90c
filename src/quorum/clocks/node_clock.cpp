#include "quorum/clocks/node_clock.hpp"

#include "quorum/in_seconds.hpp"

#include <algorithm>

namespace redlock::detail {

std::optional<quorum::clock_step> node_clock::on_time(quorum::wall_time clock, time_point sent, time_point received,
                                                      duration lasts) noexcept
{
    auto const step = track_.on_time(clock, sent, received);
    if (!step) return step;
    bool const again = is_suspended(received);  // what was granted before the earlier step may last until that is over
    forward_ = (again ? forward_ : duration::zero()) + std::max(step->at_most, duration::zero());
    ++steps_;
    last_step_ = step->at_most;
    last_step_at_ = received;
    suspended_until_ = std::max(suspended_until_, received + lasts);
    return step;
}

std::string node_clock::text(time_point now) const
{
    if (!is_suspended(now)) return "";
    bool const forward = last_step_ > duration::zero();
    return "its clock was set " + std::string{forward ? "forward" : "back"} + " by about " + in_seconds(std::chrono::abs(last_step_)) +
           ", and it may have expired locks too early: " + in_seconds(suspended_until_ - now) + " left until every lease of before is over";
}

}  // namespace redlock::detail
