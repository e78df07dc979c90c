// The work of workload.hpp with this library: one coroutine a caller.
#include "processors.hpp"
#include "workload.hpp"

#include <redlock/detail/access.hpp>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <numeric>
#include <thread>

namespace bench {

namespace {

// Of one caller, where several threads run them.
struct alignas(64) tally {
    std::atomic<std::uint64_t> pairs{0};

    void add() noexcept { pairs.store(pairs.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed); }
};

asio::awaitable<void> call(std::vector<redlock::lock> names, bool timed, std::chrono::nanoseconds later, rests* pauses, meter& figures,
                           tally* own)
{
    if (later > 0ns) {
        auto waiting = pause(later);
        co_await std::move(waiting);
    }
    for (std::size_t i = 0;; i = i + 1 == names.size() ? 0 : i + 1) {
        auto const asked_at = timed ? steady::now() : steady::time_point{};
        auto acquisition = names[i].acquire(asio::use_awaitable);
        redlock::lease held = co_await std::move(acquisition);
        if (timed) figures.acquired_after(steady::now() - asked_at);
        auto release = held.release(asio::use_awaitable);
        co_await std::move(release);
        own ? own->add() : figures.pair();
        if (pauses) {
            auto resting = pause(pauses->next());
            co_await std::move(resting);
        }
    }
}

redlock::lock lock_of(redlock::client const& client, workload const& what, std::size_t caller, std::size_t name,
                      redlock::lock_options const& options)
{
    if (what.permits > 0) return redlock::detail::access::one_permit_of({client, what.key(caller, name), {what.permits, options}});
    if (!what.reading) return {client, what.key(caller, name), options};
    return redlock::detail::access::reader_of(redlock::rw_lock{client, what.key(0, name), options});
}

sample measure_with_threads(asio::io_context& io, workload const& what, meter& figures, std::deque<tally> const& tallies)
{
    auto const pairs = [&] {
        return std::accumulate(tallies.begin(), tallies.end(), std::uint64_t{0},
                               [](std::uint64_t n, tally const& t) { return n + t.pairs; });
    };
    run_in_threads(io, what.warm_up, what.threads);
    auto const before = pairs();
    what.at_begin();
    figures.begin();
    run_in_threads(io, what.measured, what.threads);
    figures.add_pairs(pairs() - before);
    return figures.end();
}

}  // namespace

sample run_ours(workload const& what)
{
    if (what.threads > 1 && !what.own_strand) throw std::logic_error{"several threads need a strand"};
    if (what.threads > 1) use_all_processors();
    std::jthread idle;
    if (what.idle_thread)
        idle = std::jthread{[](std::stop_token const& end) {
            std::mutex sleeping;
            std::unique_lock lock{sleeping};
            std::condition_variable_any{}.wait(lock, end, [] { return false; });
        }};
    asio::io_context io{static_cast<int>(what.threads)};
    redlock::config settings = what.settings();
    settings.implicit_strand = !what.own_strand;
    if (what.in_step) settings.stall_timeout = longest_ttl;
    redlock::client client{io.get_executor(), settings};
    client.run(asio::detached);
    meter figures;
    rests pauses{what.rest};
    run_until_usable(io, client);

    std::deque<tally> tallies(what.threads > 1 ? what.callers : 0);
    // callgrind, which counts the instructions, slows the client down, and other programs do: nothing may be counted that depends on the time that passes.
    redlock::lock_options options{.ttl = what.in_step ? longest_ttl : what.ttl, .fencing = what.fencing};
    if (what.in_step) options.node_timeout = options.ttl;
    else if (what.rest == 0ns) options.node_timeout = what.ttl / 4;  // as in lock_duties: other programs may have the processors
    for (std::size_t i = 0; i < what.callers; ++i) {
        std::vector<redlock::lock> names;
        names.reserve(what.names);
        for (std::size_t k = 0; k < what.names; ++k) names.push_back(lock_of(client, what, i, k, options));
        asio::co_spawn(io,
                       call(std::move(names), what.threads == 1 && meter::times(i, what.callers), i * what.stagger,
                            what.rest > 0ns ? &pauses : nullptr, figures, what.threads > 1 ? &tallies[i] : nullptr),
                       rethrow);
    }
    auto before = client.status().counters;
    workload timed = what;
    timed.at_begin = [&] {
        if (what.at_begin) what.at_begin();
        before = client.status().counters;
    };
    sample s;
    if (what.in_step) {
        measure_in_step(timed, figures, [&] {
            // It leaves its lock to others for a moment now and then, and would sleep: how often it looks meanwhile depends on the machine's speed.
            if (io.poll() == 0) std::this_thread::sleep_for(2ms);
        });
        s = figures.end();
    } else if (what.threads > 1) {
        s = measure_with_threads(io, timed, figures, tallies);
    } else {
        run_for(io, timed.warm_up + timed.callers * timed.stagger);
        timed.at_begin();
        figures.begin();
        measure(io, timed, figures);
        s = figures.end();
    }
    auto const after = client.status().counters;
    s.confirmations = static_cast<double>(after.confirmations - before.confirmations);
    s.acquired = static_cast<double>(after.acquired - before.acquired);
    if (after.contended != before.contended || after.leases_lost != before.leases_lost)
        throw std::runtime_error{"a lock that nobody else wants was refused, or a lease was lost"};
    return s;
}

}  // namespace bench
