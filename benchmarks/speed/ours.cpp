// The same work with this library: one coroutine a caller.
#include "workload.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace bench {

namespace {

asio::awaitable<void> call(std::vector<redlock::lock> names, bool timed, std::chrono::nanoseconds later, meter& figures)
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
        figures.pair();
    }
}

}  // namespace

sample run_ours(workload const& what)
{
    asio::io_context io{1};
    redlock::client nodes{io.get_executor(), fresh_nodes(what.at)};
    nodes.run(asio::detached);
    meter figures;
    auto const rethrow = [](std::exception_ptr e) {
        if (e) std::rethrow_exception(e);
    };
    // Not run_for(), which looks at the clock before each handler.
    auto const run_for = [&](std::chrono::nanoseconds d) {
        asio::steady_timer end{io, d};
        end.async_wait([&](redlock::error_code) { io.stop(); });
        io.run();
        io.restart();
    };
    auto connect = [&]() -> asio::awaitable<void> {
        auto connecting = usable(nodes);
        co_await std::move(connecting);
        io.stop();
    };
    asio::co_spawn(io, connect(), rethrow);
    io.run();
    io.restart();

    redlock::lock_options const options{.ttl = what.ttl, .fencing = what.fencing};
    for (std::size_t i = 0; i < what.callers; ++i) {
        std::vector<redlock::lock> names;
        names.reserve(what.names);
        for (std::size_t k = 0; k < what.names; ++k) names.emplace_back(nodes, what.key(i, k), options);
        asio::co_spawn(io, call(std::move(names), meter::times(i, what.callers), i * what.stagger, figures), rethrow);
    }
    run_for(what.warm_up + what.callers * what.stagger);
    auto const before = nodes.status().counters;
    figures.begin();
    run_for(what.measured);
    sample s = figures.end();
    auto const after = nodes.status().counters;
    s.confirmations = static_cast<double>(after.confirmations - before.confirmations);
    s.extra = static_cast<double>(after.acquired - before.acquired);
    if (after.contended != before.contended || after.leases_lost != before.leases_lost)
        throw std::runtime_error{"a lock that nobody else wants was refused, or a lease was lost"};
    return s;
}

}  // namespace bench
