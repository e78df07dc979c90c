// The client behind the public class, of which `engine` is the middle. All of it runs on the strand of its client, except what
// says otherwise; there is one timer and no lock. The environment is what the parts of a client share, which are listed in
// docs/architecture.md.
#ifndef REDLOCK_CORE_ENVIRONMENT_HPP
#define REDLOCK_CORE_ENVIRONMENT_HPP

#include "base/timer_queue.hpp"
#include "core/events/counters.hpp"
#include "core/events/emitter.hpp"
#include "core/fanout.hpp"
#include "core/lock_value.hpp"
#include "core/outage_log.hpp"
#include "quorum/clocks/token_clock.hpp"
#include "quorum/node_set.hpp"
#include "quorum/votes.hpp"

#include <redlock/detail/recycling.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <string>

namespace redlock::detail {

// What the parts of an engine share.
struct environment {
    fanout::clock_function now;
    std::shared_ptr<fanout> to_nodes;
    counters count;
    std::atomic<bool> has_run{false};  // client::run() was called
    std::unique_ptr<events> observed;  // none: there is no observer
    std::unique_ptr<outage_log> outages;  // none: no log is wanted
    std::minstd_rand jitter;
    std::function<lock_value()> fresh_value;  // for every attempt: begins with 128 random bits, never used again
    token_clock tokens;
    quorum::electorate voters{1};
    quorum::node_set members;  // those nodes of the list that are members of the set, as far as is known
    std::size_t set_size{1};  // N
    bool set_was_resized{false};  // it had another N once
    bool is_list_refused{false};  // no node has a vote, since the client's list of nodes is not that of a set
    std::chrono::milliseconds token_retention{};

    // Nodes do not tell a client of its own changes: this tells those of it who look at the lock (core/acquire/peeks.hpp), if anybody does.
    std::size_t lookers{0};
    std::function<void(std::string_view key)> tell_lookers;
    void changed_by_us(std::string_view key) const
    {
        if (lookers > 0) tell_lookers(key);
    }

    void set_timer(timer& a, time_point at)
    {
        pending.set(a, at);
        if (at < sleeping_until && wake) wake();
    }
    void cancel_timer(timer& a) noexcept { pending.cancel(a); }

    timer_queue pending;
    time_point sleeping_until{time_point::max()};  // the epoch while the watchdog is awake, the far future while there is none
    std::function<void()> wake;
};

}  // namespace redlock::detail

#endif
