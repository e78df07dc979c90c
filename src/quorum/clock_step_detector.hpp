// Whether a node's wall clock runs as clocks do, or was set: servers expire keys by it.
//
// A node's answer to TIME bounds how far its clock is from ours: it was read after the request was sent and before the answer
// came. From one answer to the next these bounds may move by what drift allows. When they moved further, somebody set the
// clock, or it runs faster or slower than any clock should.
#ifndef REDLOCK_QUORUM_CLOCK_STEP_DETECTOR_HPP
#define REDLOCK_QUORUM_CLOCK_STEP_DETECTOR_HPP

#include "quorum/timing.hpp"

#include <chrono>
#include <optional>

namespace redlock::quorum {

// Since the epoch of the node's own clock.
using wall_time = std::chrono::microseconds;

struct clock_step {
    duration at_most;  // how far it was set: forward if positive. What cannot be known counts as set, too.
};

class clock_step_detector {
public:
    // Less than this, in addition to drift, is not told from drift: the validity of a lease allows for it.
    static constexpr duration tolerance = std::chrono::milliseconds{5};

    // `clock_drift`: as a fraction, between the node's clock and ours.
    explicit clock_step_detector(double drift) noexcept : drift_{drift} {}

    // The node read its clock between these two moments of ours. What was sent before the last one says nothing new.
    std::optional<clock_step> on_time(wall_time clock, time_point sent, time_point received) noexcept;

private:
    double drift_;
    bool known_{false};
    duration low_{};     // the clock less ours, at `seen_`, is between these
    duration high_{};
    time_point seen_{};  // it was read then, or later
};

}  // namespace redlock::quorum

#endif
