// src/client: the client behind the public class. All of it runs on the strand of its client, except what says otherwise; there is one timer
// and no lock. The environment is what these parts share:
//
//   client/engine               the operations of the public classes; start, stop, drain
//   acquire/acquisitions        acquire() and try_acquire(): retries, deadlines
//   acquire/attempt             one request to all nodes to grant a lock, and what their votes come to
//   acquire/peeks               what others see of a lock, and the callers that wait for a change of that
//   acquire/wait_queue          the waiters for a lock within this client, when the first asks again, to whom a lease is passed on
//   lease/lease_registry        what is held: extensions, loss, the callers that wait for it
//   lease/publications          the state that goes with a lock
//   lease/releases              releases, also in the background
//   admission/admission_driver  which nodes may vote with tokens
//   quorum/token_clock          what new tokens should at least be
//   fanout/fanout               one request to all nodes, shared by the operations of a turn of the loop
//   quorum/node_clock           whether a node's clock was set, and what the node may not grant for a while then
//   base/in_seconds             durations in sentences
//   events/emitter              what an observer is told; event_queue keeps it until then
//   client/outage_log           what is logged when there is no observer
//   lease/holder_info           what a lock's value says of its holder; lock_value is the whole of it
//   base/timer_queue            everything that waits for a moment
//   base/mailbox                what callers want done on the strand
//   client/basic_core           the engine with a clock: the watchdog coroutine that sleeps until the next timer
#ifndef REDLOCK_CLIENT_ENVIRONMENT_HPP
#define REDLOCK_CLIENT_ENVIRONMENT_HPP

#include "base/timer_queue.hpp"
#include "client/outage_log.hpp"
#include "events/counters.hpp"
#include "events/emitter.hpp"
#include "fanout/fanout.hpp"
#include "lease/lock_value.hpp"
#include "quorum/token_clock.hpp"

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
    std::unique_ptr<events> observed;  // none: nobody wants to know
    std::unique_ptr<outage_log> outages;  // the same
    std::minstd_rand jitter;
    std::function<lock_value()> fresh_value;  // for every attempt: begins with 128 random bits, never used again
    token_clock tokens;
    bool is_list_refused{false};  // no node has a vote, since the client's list of nodes is not that of a set
    std::chrono::milliseconds token_retention{};

    // Nodes do not tell a client of its own changes: this tells those of it who look at the lock (acquire/peeks.hpp), if anybody does.
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
