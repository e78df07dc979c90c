// The same work with this library: one coroutine a caller.
#include "workload.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace bench {

namespace {

asio::awaitable<void> call(std::vector<redlock::lock> names, bool timed, std::chrono::nanoseconds later, rests* pauses, meter& figures)
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
        if (pauses) {
            auto resting = pause(pauses->next());
            co_await std::move(resting);
        }
    }
}

}  // namespace

sample run_ours(workload const& what)
{
    asio::io_context io{1};
    redlock::config settings = fresh_nodes(what.at);
    settings.implicit_strand = !what.own_strand;
    redlock::client nodes{io.get_executor(), settings};
    nodes.run(asio::detached);
    meter figures;
    rests pauses{what.rest};
    auto const rethrow = [](std::exception_ptr e) {
        if (e) std::rethrow_exception(e);
    };
    run_until_usable(io, nodes);

    redlock::lock_options const options{.ttl = what.ttl, .fencing = what.fencing};
    for (std::size_t i = 0; i < what.callers; ++i) {
        std::vector<redlock::lock> names;
        names.reserve(what.names);
        for (std::size_t k = 0; k < what.names; ++k) names.emplace_back(nodes, what.key(i, k), options);
        asio::co_spawn(io,
                       call(std::move(names), meter::times(i, what.callers), i * what.stagger, what.rest > 0ns ? &pauses : nullptr,
                            figures),
                       rethrow);
    }
    run_for(io, what.warm_up + what.callers * what.stagger);
    if (what.at_begin) what.at_begin();
    auto const before = nodes.status().counters;
    figures.begin();
    run_for(io, what.measured);
    sample s = figures.end();
    auto const after = nodes.status().counters;
    s.confirmations = static_cast<double>(after.confirmations - before.confirmations);
    s.acquired = static_cast<double>(after.acquired - before.acquired);
    if (after.contended != before.contended || after.leases_lost != before.leases_lost)
        throw std::runtime_error{"a lock that nobody else wants was refused, or a lease was lost"};
    return s;
}

}  // namespace bench
