// A node's wall clock, and what follows when it was set. Forward: whatever the node keeps expires earlier than its holders count
// on, so for as long as one of those leases can last the node may not grant a lock to anybody. Back: the same, since clocks
// that are set back may have been ahead before we saw them.
#ifndef REDLOCK_QUORUM_CLOCKS_NODE_CLOCK_HPP
#define REDLOCK_QUORUM_CLOCKS_NODE_CLOCK_HPP

#include "quorum/clocks/clock_step_detector.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace redlock::detail {

using quorum::duration;
using quorum::time_point;

class node_clock {
public:
    explicit node_clock(double drift) noexcept : track_{drift} {}
    void tolerate(double drift) noexcept { track_.tolerate(drift); }

    // See clock_step_detector. `lasts`: the longest that a lease of before can last.
    std::optional<quorum::clock_step> on_time(quorum::wall_time clock, time_point sent, time_point received, duration lasts) noexcept;

    bool is_suspended(time_point now) const noexcept { return now < suspended_until_; }

    // What was sent at `t` may have been executed before the step.
    bool was_set_since(time_point t) const noexcept { return t < last_step_at_; }

    // How much earlier than expected what was granted at `t` is gone, at most.
    duration set_forward_since(time_point t) const noexcept { return t < last_step_at_ ? forward_ : duration::zero(); }

    std::uint64_t steps() const noexcept { return steps_; }
    duration last_step() const noexcept { return last_step_; }

    // Why it may not grant anything, and for how long; empty when it may.
    std::string text(time_point now) const;

private:
    quorum::clock_step_detector track_;
    std::uint64_t steps_{0};
    duration last_step_{};
    time_point last_step_at_{time_point::min()};  // when it was noticed
    duration forward_{};  // how far the clock was set forward by the last step, and by those before it while it was suspended
    time_point suspended_until_{time_point::min()};
};

}  // namespace redlock::detail

#endif
