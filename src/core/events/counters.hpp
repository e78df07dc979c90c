// The counters of client::status(), written on the strand (or, for overruns, anywhere) and read from any thread.
#ifndef REDLOCK_CORE_EVENTS_COUNTERS_HPP
#define REDLOCK_CORE_EVENTS_COUNTERS_HPP

#include <redlock/status.hpp>

#include <atomic>
#include <cstdint>

namespace redlock::detail {

class counter {
public:
    void operator++() noexcept { value_.fetch_add(1, std::memory_order_relaxed); }
    void operator--() noexcept { value_.fetch_sub(1, std::memory_order_relaxed); }
    std::uint64_t get() const noexcept { return value_.load(std::memory_order_relaxed); }

    void at_least(std::uint64_t v) noexcept
    {
        std::uint64_t seen = get();
        while (seen < v && !value_.compare_exchange_weak(seen, v, std::memory_order_relaxed)) {}
    }

private:
    std::atomic<std::uint64_t> value_{0};
};

struct counters {
    counter acquired, handoffs, nested, confirmations, permit_moves, wakeups, polls, self_deadlocks, contended, no_majority,
        validity_exhausted, late_grants_undone;
    counter extensions_renewed, extensions_held, extensions_unknown, extensions_lost, recreated;
    counter released, releases_unconfirmed, leases_lost, overruns, max_overrun_ns, watchdog_late, clock_steps, events_dropped;
    counter leases, waiting, releases_pending;  // these also go down

    client_counters snapshot() const
    {
        client_counters c;
        c.acquired = acquired.get();
        c.handoffs = handoffs.get();
        c.nested = nested.get();
        c.confirmations = confirmations.get();
        c.permit_moves = permit_moves.get();
        c.wakeups = wakeups.get();
        c.polls = polls.get();
        c.self_deadlocks = self_deadlocks.get();
        c.contended = contended.get();
        c.no_majority = no_majority.get();
        c.validity_exhausted = validity_exhausted.get();
        c.late_grants_undone = late_grants_undone.get();
        c.extensions_renewed = extensions_renewed.get();
        c.extensions_held = extensions_held.get();
        c.extensions_unknown = extensions_unknown.get();
        c.extensions_lost = extensions_lost.get();
        c.recreated = recreated.get();
        c.released = released.get();
        c.releases_unconfirmed = releases_unconfirmed.get();
        c.leases_lost = leases_lost.get();
        c.overruns = overruns.get();
        c.max_overrun = std::chrono::nanoseconds{static_cast<std::int64_t>(max_overrun_ns.get())};
        c.watchdog_late = watchdog_late.get();
        c.clock_steps = clock_steps.get();
        c.events_dropped = events_dropped.get();
        return c;
    }
};

}  // namespace redlock::detail

#endif
