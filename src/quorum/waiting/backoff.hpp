// Decorrelated jitter: each delay is drawn between the minimum and three times the one before, up to a maximum.
// Random, so that clients that split the votes do not meet again; growing, so that many clients do not overload the nodes.
// Source: "Exponential Backoff And Jitter", AWS Architecture Blog, 2015.
#ifndef REDLOCK_QUORUM_WAITING_BACKOFF_HPP
#define REDLOCK_QUORUM_WAITING_BACKOFF_HPP

#include "quorum/timing.hpp"

#include <algorithm>
#include <random>

namespace redlock::quorum {

class backoff {
public:
    // 0 <= min <= max
    backoff(duration min, duration max) noexcept : min_{min}, max_{max}, last_{min} {}

    template <class Random>
    duration next(Random& random)
    {
        duration const high = std::min(max_, std::max(min_, last_ * 3));
        last_ = duration{std::uniform_int_distribution<duration::rep>{min_.count(), high.count()}(random)};
        return last_;
    }

    void reset() noexcept { last_ = min_; }

private:
    duration min_;
    duration max_;
    duration last_;
};

}  // namespace redlock::quorum

#endif
