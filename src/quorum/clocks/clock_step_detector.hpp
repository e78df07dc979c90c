// Detects that a node's wall clock was set, which matters because servers expire keys by it. node_clock uses it.
//
// A node's answer to TIME bounds how far its clock is from ours: it was read after the request was sent and before the answer
// came. From one answer to the next these bounds may move by what drift allows. When they moved further, somebody set the
// clock, or it runs faster or slower than any clock should.
#ifndef REDLOCK_QUORUM_CLOCKS_CLOCK_STEP_DETECTOR_HPP
#define REDLOCK_QUORUM_CLOCKS_CLOCK_STEP_DETECTOR_HPP

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
    // A step up to this size, beyond what drift explains, is not reported: the validity of a lease allows for it.
    static constexpr duration tolerance = std::chrono::milliseconds{5};

    // `clock_drift`: as a fraction, between the node's clock and ours.
    explicit clock_step_detector(double drift) noexcept : drift_{drift} {}
    void tolerate(double drift) noexcept { drift_ = drift; }  // from the next reading on

    // The node read its clock between these two moments of ours. A reading that was requested before the last one says nothing new.
    std::optional<clock_step> on_time(wall_time clock, time_point sent, time_point received) noexcept;

private:
    double drift_;
    bool known_{false};
    duration low_{};     // the node's clock minus ours, at `seen_`, is between low_ and high_
    duration high_{};
    time_point seen_{};  // the last reading happened then, or later
};

}  // namespace redlock::quorum

#endif
