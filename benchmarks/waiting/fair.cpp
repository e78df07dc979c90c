// Whether processes that contend for a lock get it equally often, and how long the unluckiest waits.
#include "contest.hpp"
#include "measurements.hpp"
#include "fleet.hpp"
#include "report.hpp"

#include <memory>
#include <numeric>

namespace bench {
namespace {

struct fair_choices : choices {
    std::size_t processes{8};
    std::size_t readers{0};
    std::uint32_t permits{0};
    std::chrono::milliseconds::rep hold_ms{10};
    double seconds{30};
};

// 1 when all have the same, 1/n when one has all.
double jains_index(std::vector<waits> const& shares)
{
    double sum = 0;
    double squares = 0;
    for (auto const& share : shares) {
        auto const x = static_cast<double>(share.acquired);
        sum += x;
        squares += x * x;
    }
    return squares == 0 ? 0 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

json figures_of(std::vector<waits> const& processes, double seconds)
{
    waits all;
    json acquired = json::array();
    for (auto const& each : processes) {
        all += each;
        acquired.push_back(each.acquired);
    }
    return {{"acquired", acquired},
            {"acquisitions_per_second", static_cast<double>(all.acquired) / seconds},
            {"jains_index", jains_index(processes)},
            {"wait_mean_ms", all.mean_ms()},
            {"wait_max_ms", all.longest_ms()},
            {"longest_over_mean", all.longest_over_mean()}};
}

void measure(fair_choices const& chosen)
{
    if ((chosen.readers > 0 || chosen.permits > 0) && chosen.plain)
        throw std::runtime_error{"readers and permits need tokens: not with --plain"};
    if (chosen.readers > chosen.processes) throw std::runtime_error{"more readers than processes"};
    fleet const servers{chosen.nodes};
    contenders who;
    who.processes = who.waiters = chosen.processes;
    who.readers = chosen.readers;
    who.permits = chosen.permits;
    who.hold = std::chrono::milliseconds{chosen.hold_ms};
    who.duration = std::chrono::milliseconds{static_cast<std::int64_t>(chosen.seconds * 1e3)};
    who.warm_up = std::min(who.warm_up, who.duration);
    who.lock = chosen.lock();
    auto const result = hold(servers, who, false);
    json figures{{"fencing", !chosen.plain}, {"hold_ms", chosen.hold_ms}, {"seconds", result.seconds}};
    if (chosen.readers > 0) {
        auto const writers = result.of.begin() + static_cast<std::ptrdiff_t>(chosen.readers);
        figures["readers"] = figures_of({result.of.begin(), writers}, result.seconds);
        figures["writers"] = figures_of({writers, result.of.end()}, result.seconds);
    } else {
        figures.update(figures_of(result.of, result.seconds));
        figures["overtakings"] = result.overtakings;
    }
    figures["overlaps"] = result.overlaps;
    figures["lost"] = result.lost;
    report(chosen, "fair", std::move(figures));
}

}  // namespace

void add_fair(CLI::App& app)
{
    auto const chosen = std::make_shared<fair_choices>();
    auto& command = *app.add_subcommand("fair", "Shares and waits of processes that contend for one lock");
    chosen->add_to(command);
    command.add_option("--processes", chosen->processes, "How many processes contend")->capture_default_str();
    auto* const readers = command.add_option("--readers", chosen->readers,
                                             "So many of them read, and the others write, with one read-write lock");
    readers->capture_default_str();
    command.add_option("--permits", chosen->permits, "They contend for permits of a semaphore that has so many")
        ->check(CLI::Range(1, 64))
        ->excludes(readers);
    command.add_option("--hold-ms", chosen->hold_ms, "How long each holds the lock")->capture_default_str();
    command.add_option("--seconds", chosen->seconds, "How long they contend")->capture_default_str();
    command.callback([chosen] { measure(*chosen); });
}

}  // namespace bench
