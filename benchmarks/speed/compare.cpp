// The command `compare`: chosen callers and nodes, over the epoll baseline.
#include "report.hpp"
#include "speed.hpp"
#include "testbed.hpp"
#include "turns.hpp"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

struct compare_choices : choices {
    std::size_t callers{256};
    double seconds{2};
    double warm_up{0.3};
    std::size_t rounds{5};
    bool fencing{false};
    std::size_t names{1};
    bool own_strand{false};
};

json compare(compare_choices const& chosen)
{
    testbed const bed{chosen.nodes};
    workload what = bed.work(chosen.callers, chosen.fencing);
    what.measured = to_duration(chosen.seconds);
    what.warm_up = to_duration(chosen.warm_up);
    what.names = chosen.names;
    what.own_strand = chosen.own_strand;
    std::vector<worker> wanted{{"epoll floor", [&] { return run_epoll_baseline(what); }}, {"redlock", [&] { return run_ours(what); }}};
    if (!chosen.fencing) {
        wanted.push_back({"Boost.Redis floor", [&] { return run_boost_redis_baseline(what); }});
        wanted.push_back({"coroutines floor", [&] { return run_coroutines_baseline(what); }});
        wanted.push_back({"duties floor", [&] { return run_duties_baseline(what); }});
    }
    auto const all = take_turns(wanted, chosen.rounds);
    medians const& baseline = all[0];
    medians const& ours = all[1];
    json workers = json::array();
    for (auto const& each : all) workers.push_back(each.to_json());
    json result{{"callers", chosen.callers},
                {"fencing", chosen.fencing},
                {"cpu_ratio", ratio(ours, baseline, &sample::cpu_us_per_pair)},
                {"throughput_ratio", ratio(ours, baseline, &sample::pairs_per_second)},
                {"latency_p50_ratio", ratio(ours, baseline, &sample::acquire_p50_us)},
                {"latency_p99_ratio", ratio(ours, baseline, &sample::acquire_p99_us)},
                {"workers", std::move(workers)}};
    for (std::size_t i = 2; i < all.size(); ++i) {
        std::string const name = std::array{"boost_redis_floor", "coroutines_floor", "duties_floor"}[i - 2];
        result["cpu_ratio_" + name] = ratio(all[i], baseline, &sample::cpu_us_per_pair);
        result["latency_p50_ratio_" + name] = ratio(all[i], baseline, &sample::acquire_p50_us);
    }
    return result;
}

}  // namespace

void add_compare(CLI::App& app)
{
    auto const chosen = std::make_shared<compare_choices>();
    auto& command = *app.add_subcommand("compare", "Acquisitions and releases over the epoll floor, with chosen callers and nodes");
    command.add_option("--nodes", chosen->nodes, "How many redis-servers")->capture_default_str()->check(CLI::Range(1, 15));
    command.add_option("--callers", chosen->callers, "Who acquire and release all the time")
        ->capture_default_str()
        ->check(CLI::Range(1, 100'000));
    command.add_option("--seconds", chosen->seconds, "How long each run is measured")->capture_default_str();
    command.add_option("--warm-up", chosen->warm_up, "Seconds before that")->capture_default_str();
    command.add_option("--rounds", chosen->rounds, "Runs of each worker, in turns")->capture_default_str();
    command.add_option("--names", chosen->names, "Of each caller, taken in turn")->capture_default_str();
    command.add_flag("--fencing", chosen->fencing, "With tokens");
    command.add_flag("--strand", chosen->own_strand, "The client has a strand of its own, for an io_context that several threads run");
    command.add_option("--output", chosen->output, "Where the JSON goes; default: standard output");
    command.callback([chosen] { report(*chosen, "compare", compare(*chosen)); });
}

}  // namespace bench
