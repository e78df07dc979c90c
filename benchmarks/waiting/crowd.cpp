// How many commands the servers get for each acquisition, the more waiters there are.
#include "contest.hpp"
#include "measurements.hpp"
#include "command_counter.hpp"
#include "fleet.hpp"
#include "loop.hpp"
#include "report.hpp"

#include <memory>

namespace bench {
namespace {

constexpr std::size_t processes_of_a_crowd = 8;

struct crowd_choices : choices {
    std::vector<std::size_t> waiters{1, 10, 100, 1'000};
    std::chrono::milliseconds::rep hold_ms{10};
    double seconds{10};
};

contenders arranged(std::string const& how, std::size_t waiters)
{
    contenders who;
    who.waiters = waiters;
    if (how != "one_process") who.processes = std::min(waiters, processes_of_a_crowd);
    who.own_clients = how == "own_clients";
    return who;
}

json measure(crowd_choices const& chosen, std::string const& how, std::size_t waiters)
{
    fleet const servers{chosen.nodes};
    contenders who = arranged(how, waiters);
    who.hold = std::chrono::milliseconds{chosen.hold_ms};
    who.duration = std::chrono::milliseconds{static_cast<std::int64_t>(chosen.seconds * 1e3)};
    who.warm_up = std::min<std::chrono::milliseconds>(2'000ms, who.duration);
    who.lock = chosen.lock();
    auto const result = hold(servers, who, true);
    auto const commands = sum(result.commands);
    auto const nodes = static_cast<double>(chosen.nodes);
    auto const total = static_cast<double>(result.all.acquired);
    return {{"how", how},
            {"fencing", !chosen.plain},
            {"waiters", waiters},
            {"processes", who.processes},
            {"clients", who.own_clients ? waiters : who.processes},
            {"hold_ms", chosen.hold_ms},
            {"seconds", result.seconds},
            {"acquisitions_per_second", total / result.seconds},
            {"commands_per_acquisition", total == 0 ? json{} : json(static_cast<double>(commands) * nodes / total)},
            {"commands_per_second_and_node", static_cast<double>(commands) / result.seconds},
            {"commands_of_the_first_node", result.commands},
            {"wait_mean_ms", result.all.mean_ms()},
            {"wait_max_ms", result.all.longest_ms()},
            {"overlaps", result.overlaps},
            {"lost", result.lost}};
}

}  // namespace

void add_crowd(CLI::App& app)
{
    auto const chosen = std::make_shared<crowd_choices>();
    auto& command = *app.add_subcommand("crowd", "Commands for each acquisition with many waiters");
    chosen->add_to(command);
    command.add_option("--waiters", chosen->waiters, "How many")->capture_default_str();
    command.add_option("--hold-ms", chosen->hold_ms, "How long each holds the lock")->capture_default_str();
    command.add_option("--seconds", chosen->seconds, "How long they contend, for each number")->capture_default_str();
    command.callback([chosen] {
        json figures = json::array();
        for (char const* how : {"eight_processes", "one_process", "own_clients"})
            for (auto const waiters : chosen->waiters) figures.push_back(measure(*chosen, how, waiters));
        report(*chosen, "crowd", std::move(figures));
    });
}

}  // namespace bench
