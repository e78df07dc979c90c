#include "quorum/waiting/fairness.hpp"

#include <algorithm>

namespace redlock::quorum {

namespace {

// For so long after it was refused, a client takes it that others want the lock.
constexpr duration memory = std::chrono::seconds{1};

// A head start of more slots than this costs more than it orders.
constexpr std::uint32_t max_head_start = 8;

// After a turn in which a client was never refused, others may still have waited: they could not get in between its release and its next
// attempt. So it stays out for as long as many clients need to find a winner; if then nobody has come, a little less long the next time.
constexpr duration max_stay_out = std::chrono::milliseconds{16};
constexpr duration min_stay_out = std::chrono::milliseconds{1};

// To lose so many races in a row is a sign of high contention: one of ten that race has that bad luck once in eight waits, and none of those who are
// in order. A client that backed off not long ago knows of the contention, and needs fewer.
constexpr std::uint32_t races_before_nap = 24;
constexpr std::uint32_t races_between_naps = 16;
constexpr int nap_min_slots = 16;
constexpr duration max_nap = std::chrono::seconds{5};

}  // namespace

fairness::fairness() noexcept : stay_out_{max_stay_out} {}

void fairness::won(time_point now, duration slot) noexcept
{
    // A client that wins again soon after a release, and was not refused between, goes on with the same turn: its limits count on.
    bool const goes_on = !new_turn_ && !contended_ && now < released_at_ + 2 * max_head_start * slot;
    if (new_turn_ && !contended_) stay_out_ = std::max(stay_out_ * 3 / 4, min_stay_out);
    if (!goes_on) {
        taken_ = 0;
        began_ = now;
    }

    // What this wait has cost goes into the averages: a quarter of the new and three of the old.
    usual_in_quarters_ = usual_in_quarters_ - usual_in_quarters_ / 4 + std::min(lost_, 64u);
    if (lost_in_a_row_ < races_between_naps) backoff_window_ = backoff_window_ > slot ? backoff_window_ / 2 : duration::zero();
    if (contended_) {
        duration const waited = now - waits_since_;
        usual_wait_ = usual_wait_ == duration::zero() ? waited : usual_wait_ - usual_wait_ / 4 + waited / 4;
    }

    // The next wait begins without a history.
    lost_ = 0;
    lost_in_a_row_ = 0;
    contended_ = false;
    new_turn_ = false;
}

bool fairness::may_hand_over(time_point now, fairness_limits const& limits) const noexcept
{
    return taken_ < limits.handoffs && now < began_ + limits.time;
}

bool fairness::others_want_it(time_point now) const noexcept { return refused_at_ != time_point::min() && now < refused_at_ + memory; }

time_point fairness::released(time_point now, fairness_limits const& limits, duration slot) noexcept
{
    released_at_ = now;
    bool const wanted = others_want_it(now);
    if (wanted || !may_hand_over(now, limits)) {
        out_until_ = now + (2 + std::min(usual(), max_head_start)) * slot + (wanted ? duration::zero() : stay_out_);
        new_turn_ = true;
    }
    forget_at_ = wanted ? refused_at_ + memory : std::max(released_at_ + 2 * max_head_start * slot, out_until_);
    return out_until_;
}

void fairness::refused(time_point now) noexcept
{
    refused_at_ = now;
    if (!contended_) waits_since_ = now;
    contended_ = true;
    stay_out_ = max_stay_out;
}

void fairness::lost_a_race() noexcept
{
    ++lost_;
    ++lost_in_a_row_;
}

duration fairness::back_off(duration slot, bool crowded, double chance) noexcept
{
    if (lost_in_a_row_ == 0) return {};
    if (!crowded && lost_in_a_row_ < (backoff_window_ > duration::zero() ? races_between_naps : races_before_nap)) return {};
    lost_in_a_row_ = 0;
    backoff_window_ = std::clamp<duration>(backoff_window_ * 4, nap_min_slots * slot, max_nap);
    return backoff_window_ / 2 + std::chrono::duration_cast<duration>(backoff_window_ * chance);
}

duration fairness::head_start_of_others(duration slot, double chance) const noexcept
{
    if (usual() == 0) return {};
    auto const behind = usual() > lost_ ? usual() - lost_ : 0;
    return std::min(behind, max_head_start) * slot + std::chrono::duration_cast<duration>(slot * chance);
}

// Who has never waited to the end does not know how long that takes, and is ordered by chance alone.
duration fairness::head_start_of_readers_and_writers(time_point now, duration slot, double chance) const noexcept
{
    auto const of_chance = std::chrono::duration_cast<duration>(slot * chance);
    duration const waited = contended_ ? now - waits_since_ : duration::zero();
    if (waited >= usual_wait_) return slot + of_chance;
    auto const left = std::chrono::duration<double>{usual_wait_ - waited} / std::chrono::duration<double>{usual_wait_};
    return slot + of_chance + std::chrono::duration_cast<duration>(slot * (max_head_start * left));
}

}  // namespace redlock::quorum
