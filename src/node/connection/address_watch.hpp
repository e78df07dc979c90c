// Notices that several servers answer at one address, as behind a load balancer: each would grant the same lock. It shows when a connection leads to
// another server than the one before, which ran already while that one answered, or which was there earlier. A server that was restarted is none of
// these. No I/O.
#ifndef REDLOCK_NODE_CONNECTION_ADDRESS_WATCH_HPP
#define REDLOCK_NODE_CONNECTION_ADDRESS_WATCH_HPP

#include "quorum/timing.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace redlock::detail {

class address_watch {
public:
    // A connection has led to this server (INFO server: run_id, uptime_in_seconds). Nothing is known of a server without an id.
    void met(std::string const& run_id, std::optional<std::chrono::seconds> uptime, quorum::time_point now);

    // The server that is connected answers a question of this moment.
    void answered(quorum::time_point asked) noexcept { answered_ = asked; }

    // What was noticed and what to do about it; empty: nothing.
    std::string const& words() const noexcept { return words_; }

private:
    static constexpr std::size_t max_earlier = 8;

    std::string current_;
    std::vector<std::string> earlier_;  // the last ones
    quorum::time_point answered_{};  // when `current_` answered for the last time
    std::string words_;
};

}  // namespace redlock::detail

#endif
