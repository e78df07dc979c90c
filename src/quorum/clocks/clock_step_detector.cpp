#include "quorum/clocks/clock_step_detector.hpp"

#include <algorithm>
#include <utility>

namespace redlock::quorum {

std::optional<clock_step> clock_step_detector::on_time(wall_time clock, time_point sent, time_point received) noexcept
{
    if (known_ && sent < seen_) return {};  // requested before the reading that is known already
    // The clock shows whole microseconds, so it may be up to one more.
    duration const low = clock - received.time_since_epoch();
    duration const high = clock + wall_time{1} - sent.time_since_epoch();
    auto const moved = std::chrono::duration_cast<duration>(
        std::chrono::duration<double, std::nano>{static_cast<double>(std::max(received - seen_, duration::zero()).count()) * drift_});
    duration const expected_low = low_ - moved;
    duration const expected_high = high_ + moved;
    bool const first = !std::exchange(known_, true);
    seen_ = sent;

    bool const forward = !first && low > expected_high + tolerance;
    bool const back = !first && high < expected_low - tolerance;
    if (first || forward || back) {
        low_ = low;
        high_ = high;
        if (first) return {};
        return clock_step{forward ? high - expected_low : low - expected_high};
    }
    // Keep what the old and the new bounds have in common. Bounds a little beyond are cut to what drift explains; so slow steps add up until one is
    // reported.
    low_ = std::clamp(low, expected_low, expected_high);
    high_ = std::clamp(high, expected_low, expected_high);
    return {};
}

}  // namespace redlock::quorum
