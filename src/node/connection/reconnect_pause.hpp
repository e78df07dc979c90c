// How long to wait before the next attempt to connect. It grows with each attempt, and is short again once a server was usable; but it goes on growing where
// servers are usable only for a moment, again and again.
#ifndef REDLOCK_NODE_CONNECTION_RECONNECT_PAUSE_HPP
#define REDLOCK_NODE_CONNECTION_RECONNECT_PAUSE_HPP

#include "quorum/waiting/backoff.hpp"

#include <redlock/config.hpp>

#include <chrono>
#include <random>

namespace redlock::detail {

class reconnect_pause {
public:
    explicit reconnect_pause(config const& settings)
        : grows_{settings.min_reconnect_delay, settings.max_reconnect_delay}, long_use_{settings.max_reconnect_delay}
    {
    }

    void usable_now() noexcept { usable_since_ = std::chrono::steady_clock::now(); }

    // The server was usable for longer than the longest pause: who left it then does no harm by coming back soon.
    bool was_used_long() const noexcept { return std::chrono::steady_clock::now() - usable_since_ > long_use_; }

    // A server that was usable is lost.
    void reset() noexcept
    {
        if (was_used_long()) moments_ = 0;
        if (moments_ == max_moments) return;
        ++moments_;
        grows_.reset();
    }
    std::chrono::nanoseconds next() { return grows_.next(random_); }

private:
    static constexpr int max_moments = 4;

    quorum::backoff grows_;
    std::chrono::nanoseconds long_use_;
    std::chrono::steady_clock::time_point usable_since_{};
    int moments_{0};  // how often it was usable for a moment only, since it was for longer
    std::minstd_rand random_{std::random_device{}()};
};

}  // namespace redlock::detail

#endif
