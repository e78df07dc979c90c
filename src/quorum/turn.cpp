#include "quorum/turn.hpp"

#include <algorithm>

namespace redlock::quorum {

namespace {

// For so long after it was refused, a client takes it that others want the lock.
constexpr duration memory = std::chrono::seconds{1};

// A head start of more slots than this costs more than it orders.
constexpr std::uint32_t slots_max = 8;

}  // namespace

void turn::won(time_point now, duration slot) noexcept
{
    bool const goes_on = !new_turn_ && !contended_ && now < released_at_ + 2 * slots_max * slot;
    if (!goes_on) {
        taken_ = 0;
        began_ = now;
    }
    // A quarter of the new and three of the old.
    usual_in_quarters_ = usual_in_quarters_ - usual_in_quarters_ / 4 + std::min(lost_, 64u);
    lost_ = 0;
    contended_ = false;
    new_turn_ = false;
}

bool turn::may_hand_over(time_point now, turn_limits const& limits) const noexcept
{
    return taken_ < limits.handoffs && now < began_ + limits.time;
}

bool turn::others_want_it(time_point now) const noexcept { return refused_at_ != time_point::min() && now < refused_at_ + memory; }

time_point turn::released(time_point now, turn_limits const& limits, duration slot) noexcept
{
    released_at_ = now;
    bool const wanted = others_want_it(now);
    if (wanted || !may_hand_over(now, limits)) {
        out_until_ = now + (2 + std::min(usual(), slots_max)) * slot;
        new_turn_ = true;
    }
    forget_at_ = wanted ? refused_at_ + memory : released_at_ + 2 * slots_max * slot;
    return out_until_;
}

void turn::refused(time_point now) noexcept
{
    refused_at_ = now;
    contended_ = true;
}

duration turn::head_start_of_others(duration slot) const noexcept
{
    auto const behind = usual() > lost_ ? usual() - lost_ : 0;
    return std::min(behind, slots_max) * slot;
}

}  // namespace redlock::quorum
