#include "workload.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <unistd.h>

namespace bench {

void refuse_tokens_and_rests(workload const& what, std::string const& who)
{
    if (what.fencing || what.rest > 0ns || what.stagger > 0ns) throw std::logic_error{who + " knows no tokens, no rest and no stagger"};
}

void measure(asio::io_context& io, workload const& what, meter const& figures)
{
    run_for(io, what.measured);
    for (auto const end = steady::now() + max_busy_machine; figures.has_no_pairs() && steady::now() < end;) run_for(io, 10ms);
}

void run_in_threads(asio::io_context& io, std::chrono::nanoseconds d, std::size_t threads)
{
    asio::steady_timer end{io, d};
    end.async_wait([&](redlock::error_code) { io.stop(); });
    {
        std::vector<std::jthread> others;
        while (others.size() + 1 < threads) others.emplace_back([&io] { io.run(); });
        io.run();
    }
    io.restart();
}

[[gnu::noinline]] void counted_turn(std::function<void()> const& turn)
{
    turn();
    asm volatile("" ::: "memory");  // so that the call is no jump, behind which nothing would be counted
}

void measure_in_step(workload const& what, meter& figures, std::function<void()> const& turn)
{
    auto const run = [&](std::size_t pairs, std::function<void()> const& one) {
        auto const last = figures.pairs() + pairs;
        auto end = steady::now() + max_busy_machine;
        while (figures.pairs() < last) {
            auto const before = figures.pairs();
            one();
            what.in_step->next();
            if (figures.pairs() != before) end = steady::now() + max_busy_machine;
            if (steady::now() > end) throw std::runtime_error{"no pair is completed any more"};
        }
    };
    // From here on: a slow client with many callers would always find an answer otherwise, and its turn would never end.
    what.in_step->next();
    run(what.pairs / 4, turn);
    if (what.at_begin) what.at_begin();
    figures.begin();
    figures.pause();
    run(what.pairs, [&] {
        figures.resume();
        counted_turn(turn);
        figures.pause();
    });
}

redlock::config workload::settings() const
{
    if (!cluster.empty()) {
        redlock::config settings = redlock::config::from_urls({cluster});
        settings.bootstrap = true;
        return settings;
    }
    redlock::config settings = bootstrap_config(at);
    if (!sharded) return settings;
    for (auto& node : settings.nodes) settings.shards.push_back({std::move(node)});
    settings.nodes.clear();
    return settings;
}

// Keys of a worker that has ended may still be locked, so the next one has others of the same length.
std::string workload::key(std::size_t caller, std::size_t name) const
{
    auto const padded = [](std::string digits, std::size_t width) {
        return std::string(width - std::min(width, digits.size()), '0') + digits;
    };
    return "speed:" + padded(std::to_string(::getpid()), 7) + ":" + padded(std::to_string(caller * names + name), 6);
}

}  // namespace bench
