// Whether processes that contend for a lock get it equally often, and how long the unluckiest waits.
#include "measurements.hpp"
#include "support.hpp"

#include <memory>
#include <numeric>

namespace bench {
namespace {

struct fair_choices : choices {
    std::size_t processes{8};
    std::chrono::milliseconds::rep hold_ms{10};
    double seconds{30};
};

// 1 when all have the same, 1/n when one has all.
double jains_index(std::vector<std::uint64_t> const& shares)
{
    double sum = 0;
    double squares = 0;
    for (auto const share : shares) {
        auto const x = static_cast<double>(share);
        sum += x;
        squares += x * x;
    }
    return squares == 0 ? 0 : sum * sum / (static_cast<double>(shares.size()) * squares);
}

void measure(fair_choices const& chosen)
{
    fleet const servers{chosen.nodes};
    contenders who;
    who.processes = who.waiters = chosen.processes;
    who.hold = std::chrono::milliseconds{chosen.hold_ms};
    who.duration = std::chrono::milliseconds{static_cast<std::int64_t>(chosen.seconds * 1e3)};
    who.warm_up = std::min(who.warm_up, who.duration);
    who.lock = chosen.lock();
    auto const result = hold(servers, who, false);
    json figures{{"fencing", !chosen.plain},
                 {"hold_ms", chosen.hold_ms},
                 {"seconds", result.seconds},
                 {"acquired", result.acquired},
                 {"acquisitions_per_second", static_cast<double>(result.total) / result.seconds},
                 {"jains_index", jains_index(result.acquired)},
                 {"wait_mean_ms", result.wait_mean_ms},
                 {"wait_max_ms", result.wait_max_ms},
                 {"overlaps", result.overlaps},
                 {"lost", result.lost}};
    report(chosen, "fair", std::move(figures));
}

}  // namespace

void add_fair(CLI::App& app)
{
    auto const chosen = std::make_shared<fair_choices>();
    auto& command = *app.add_subcommand("fair", "Shares and waits of processes that contend for one lock");
    chosen->add_to(command);
    command.add_option("--processes", chosen->processes, "How many processes contend")->capture_default_str();
    command.add_option("--hold-ms", chosen->hold_ms, "How long each holds the lock")->capture_default_str();
    command.add_option("--seconds", chosen->seconds, "How long they contend")->capture_default_str();
    command.callback([chosen] { measure(*chosen); });
}

}  // namespace bench
