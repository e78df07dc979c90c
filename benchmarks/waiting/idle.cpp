// What a waiter costs the servers while somebody else holds the lock for long.
#include "command_stats.hpp"
#include "measurements.hpp"
#include "command_counter.hpp"
#include "fleet.hpp"
#include "loop.hpp"
#include "report.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>

namespace bench {
namespace {

using counts = std::map<std::string, std::uint64_t>;

struct idle_choices : choices {
    std::vector<std::size_t> waiters{0, 1, 10};
    double seconds{30};
    double settle{3};
};

// What INFO commandstats says, with what scripts call.
counts stats_of(fleet const& servers)
{
    counts all;
    for (std::size_t i = 0; i < servers.size(); ++i)
        for (auto const& [name, counted] : command_stats_of(servers[i])) all[name] += counted.calls;
    return all;
}

// One holder and so many waiters, each with a client of its own.
class queue {
public:
    queue(fleet const& servers, redlock::lock_options const& options, std::size_t waiters) : options_{options}
    {
        for (std::size_t i = 0; i <= waiters; ++i) {
            auto& nodes = clients_.emplace_back(io_.get_executor(), bootstrap_config(servers.ports()));
            nodes.run(asio::detached);
        }
        asio::co_spawn(io_, line_up(), rethrow);
    }

    void run_for(double seconds)
    {
        io_.run_for(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{seconds}));
        if (odd_) throw std::runtime_error{"a waiter got the lock, or failed"};
    }
    void run_until_held()
    {
        while (!held_) io_.run_one();
    }
    bool still_held() const noexcept { return held_.valid(); }

private:
    asio::awaitable<void> line_up()
    {
        auto connecting = wait_until_usable(clients_.front());
        co_await std::move(connecting);
        auto acquisition = resource(clients_.front()).acquire(asio::use_awaitable);
        held_ = co_await std::move(acquisition);
        for (std::size_t i = 1; i < clients_.size(); ++i)
            resource(clients_[i]).acquire([this](redlock::error_code, redlock::lease) { odd_ = true; });
    }

    redlock::lock resource(redlock::client const& nodes) const { return {nodes, "held-for-long", options_}; }

    redlock::lock_options options_;
    bool odd_{false};
    asio::io_context io_{1};
    std::deque<redlock::client> clients_;
    redlock::lease held_;
};

json measure(idle_choices const& chosen, std::size_t waiters)
{
    fleet const servers{chosen.nodes};
    queue everybody{servers, chosen.lock(), waiters};
    everybody.run_until_held();
    everybody.run_for(chosen.settle);
    auto const stats_before = stats_of(servers);
    std::deque<command_counter> counters;
    for (std::size_t i = 0; i < servers.size(); ++i) counters.emplace_back(servers[i]);
    auto const began = steady::now();
    everybody.run_for(chosen.seconds);
    double const seconds = std::chrono::duration<double>{steady::now() - began}.count();
    counts commands;
    for (auto& counter : counters)
        for (auto const& [name, count] : counter.stop()) commands[name] += count;
    auto stats = stats_of(servers);
    for (auto const& [name, count] : stats_before) stats[name] -= count;
    if (!everybody.still_held()) throw std::runtime_error{"the holder lost the lock"};
    return {{"fencing", !chosen.plain},
            {"waiters", waiters},
            {"seconds", seconds},
            {"commands_per_second_and_node", static_cast<double>(sum(commands)) / seconds / static_cast<double>(chosen.nodes)},
            {"commands", commands},
            {"commandstats_with_scripts_own_calls", stats}};
}

// What the holder costs is what there is without waiters.
void subtract_holder(json& figures)
{
    double const holder = figures.front()["commands_per_second_and_node"];
    for (auto& each : figures) {
        auto const waiters = each["waiters"].get<double>();
        if (waiters > 0) each["per_waiter"] = (each["commands_per_second_and_node"].get<double>() - holder) / waiters;
    }
}

}  // namespace

void add_idle(CLI::App& app)
{
    auto const chosen = std::make_shared<idle_choices>();
    auto& command = *app.add_subcommand("idle", "Commands a second of waiters while the lock is held");
    chosen->add_to(command);
    command.add_option("--waiters", chosen->waiters, "How many, each with a client of its own; the first must be 0")->capture_default_str();
    command.add_option("--seconds", chosen->seconds, "How long, for each number")->capture_default_str();
    command.add_option("--settle", chosen->settle, "Seconds of waiting before that")->capture_default_str();
    command.callback([chosen] {
        if (chosen->waiters.empty() || chosen->waiters.front() != 0) throw CLI::ValidationError{"--waiters", "must begin with 0"};
        json figures = json::array();
        for (auto const waiters : chosen->waiters) figures.push_back(measure(*chosen, waiters));
        subtract_holder(figures);
        report(*chosen, "idle", std::move(figures));
    });
}

}  // namespace bench
