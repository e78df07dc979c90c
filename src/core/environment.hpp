// src/core: drives the machines of quorum/ over the nodes of node/. One strand, one timer, no locks: all of it runs on the
// strand of its client, except what says otherwise.
//
//   engine        the operations of the public classes; start, stop, drain
//   acquisitions  acquire() and try_acquire(): retries, deadlines
//   attempt       one question to all nodes whether they grant a lock, and what their votes come to
//   lines         who waits for a lock within this client, when the first asks again, to whom a lease is passed on
//   leases        what is held: extensions, loss, who waits for it
//   releases      giving back, also in the background
//   admissions    which nodes may vote with tokens
//   floors        what new tokens should at least be
//   rounds        one request to all nodes, shared by the operations of a loop turn
//   node_clock    whether a node's wall clock was set, and what it may not do for a while then
//   in_seconds    durations in sentences
//   events        what an observer is told; event_queue keeps it until then
//   holder_info   what a lock's value says of its holder; lock_value is the whole of it
//   alarms        everything that waits for a moment
//   mailbox       what callers want done on the strand
//   basic_core    the engine with a clock: the watchdog coroutine that sleeps until the next alarm
#ifndef REDLOCK_CORE_ENVIRONMENT_HPP
#define REDLOCK_CORE_ENVIRONMENT_HPP

#include "core/alarms.hpp"
#include "core/counters.hpp"
#include "core/events.hpp"
#include "core/floors.hpp"
#include "core/lock_value.hpp"
#include "core/rounds.hpp"

#include <redlock/detail/recycling.hpp>

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <random>
#include <string>

namespace redlock::detail {

// What the parts of an engine share.
struct environment {
    rounds::clock_function now;
    std::shared_ptr<rounds> to_nodes;
    counters count;
    std::unique_ptr<events> observed;  // none: nobody wants to know
    std::minstd_rand jitter;
    std::function<lock_value()> fresh_value;  // for every attempt: begins with 128 random bits, never used again
    floors tokens;
    std::chrono::milliseconds token_retention{};

    void set_alarm(alarm& a, time_point at)
    {
        pending.set(a, at);
        if (at < sleeping_until && wake) wake();
    }
    void cancel_alarm(alarm& a) noexcept { pending.cancel(a); }

    alarms pending;
    time_point sleeping_until{};  // the epoch while the watchdog is awake
    std::function<void()> wake;
};

// 32 hexadecimal digits at a time from the system's random source, which is asked for several at a time. Throws std::system_error without
// it. Not copyable, as the copies would give the same values; a process that was forked must not go on with its parent's.
class random_values {
public:
    random_values() = default;
    random_values(random_values const&) = delete;
    random_values& operator=(random_values const&) = delete;

    lock_value::unique_part next();

private:
    static constexpr std::size_t bytes_each = sizeof(lock_value::unique_part) / 2;

    void refill();

    std::array<unsigned char, 16 * bytes_each> bytes_{};
    std::size_t used_{bytes_.size()};
};

// One such value. Thread-safe.
std::string random_value();

}  // namespace redlock::detail

#endif
