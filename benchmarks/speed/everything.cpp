// All steps one after the other, and the summary. Progress goes to the standard error.
#include "report.hpp"
#include "testbed.hpp"
#include "run.hpp"
#include "speed.hpp"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <stdexcept>

namespace bench {

namespace {

goal at_most(std::string_view name, double value) { return {name, value, true}; }
goal at_least(std::string_view name, double value) { return {name, value, false}; }

}  // namespace

std::vector<goal> const& goals()
{
    static std::vector<goal> const all{
        at_most("cpu_ratio_n3_c256", 2.3),
        at_most("cpu_ratio_n5_c256", 2.3),
        at_most("cpu_ratio_n3_c256_without_implicit_strand", 3.0),
        at_most("cpu_growth_multithreaded_n3_c256", 1.3),
        at_most("cpu_growth_four_threads_n3_c256", 1.3),
        at_most("instructions_per_pair_n3_c256", 6'900),
        at_most("instructions_per_pair_n5_c256", 9'000),
        at_most("fenced_instructions_per_pair_n3_c256", 13'500),
        at_most("instructions_per_pair_n3_c1", 105'000),
        at_least("throughput_ratio_n3_c256", 0.95),
        at_least("throughput_ratio_n5_c256", 0.95),
        at_most("latency_ratio_n3_c1", 1.15),
        at_most("latency_ratio_n5_c1", 1.15),
        at_most("cpu_ratio_n3_c2000", 2.8),
        at_most("fenced_cpu_ratio_n3_c256", 2.8),
        at_least("fenced_one_round_share", 0.99),
        at_least("fenced_throughput_ratio_n3_c256", 0.95),
        at_most("fenced_server_us_per_acquire", 10),
        at_most("stalled_node_p99_ratio", 1.2),
        at_most("rtt2ms_latency_ratio", 1.1),
        at_most("keepalive_100k_cpu_core_share", 0.10),
        at_most("bytes_per_held_lease", 420),
        at_most("allocations_per_pair", 8),
        at_most("fenced_allocations_per_pair_n3_c256", 0.5),
        at_most("cost_growth_100k_names", 1.15),
        at_least("cpu_ratio_node_redlock", 20),
        at_least("local_handoffs_per_second", 500'000),
    };
    return all;
}

workload run::work(testbed const& where, std::size_t callers, bool fencing) const
{
    workload what = where.work(callers, fencing);
    what.warm_up = how.warm_up;
    what.measured = how.measured;
    return what;
}

void run::put(std::string const& name, double value)
{
    summary_[name] = value;
    auto const g = std::ranges::find(goals(), std::string_view{name}, &goal::name);
    if (g == goals().end() || !how.has_sizes_of_goals()) {
        std::fprintf(stderr, "    %-45s %10.4g\n", name.c_str(), value);
    } else {
        bool const reached = g->at_most ? value <= g->value : value >= g->value;
        std::fprintf(stderr, "    %-45s %10.4g   goal %s %g: %s\n", name.c_str(), value, g->at_most ? "<=" : ">=", g->value,
                     reached ? "reached" : "not reached");
    }
}

void run::add_detail(std::string const& name, std::vector<medians> const& all)
{
    json list = json::array();
    for (auto const& each : all) list.push_back(each.to_json());
    details_[name] = std::move(list);
}

namespace {

std::vector<step> const& steps()
{
    static std::vector<step> const all{
        {"plain", "acquire and release, 3 nodes, 256 callers", &measure_plain_three},
        {"plain5", "the same with 5 nodes", &measure_plain_five},
        {"single", "one caller, 3 nodes", &measure_single_three},
        {"single5", "one caller, 5 nodes", &measure_single_five},
        {"sixteen", "16 callers, 3 nodes", &measure_sixteen},
        {"crowd", "2,000 callers, 3 nodes", &measure_crowd},
        {"fenced", "with tokens, 3 nodes, 256 callers", &measure_fenced},
        {"servers", "what acquisitions cost the servers", &measure_server_cost},
        {"readers", "readers of one name beside exclusive locks, 3 nodes", &measure_readers},
        {"permits", "permits beside exclusive locks, 3 nodes", &measure_permits},
        {"shards", "1, 2, 4 and 8 servers, each a shard of its own", &measure_shards},
        {"cluster", "a Redis Cluster, with 1 shard and with 64", &measure_cluster},
        {"stalled", "one of 5 nodes stops", &measure_stalled},
        {"far", "a round trip of 2 ms", &measure_far},
        {"keepalive", "many leases are kept alive", &measure_keepalive},
        {"names", "many names", &measure_names},
        {"peers", "node-redlock at the same work", &measure_peers},
        {"handoffs", "local hand-overs", &measure_handoffs},
        {"first", "the first lease of a new client, 5 nodes", &measure_first},
        {"threads", "256 callers, 3 nodes, where there are more threads", &measure_threads},
        {"instructions", "instructions, whoever else uses the machine", &measure_instructions},
        {"group", "a round with make_parallel_group, and counted by hand", &measure_group},
    };
    return all;
}

struct all_choices : choices {
    bool quick{false};
    std::vector<std::string> only;
    std::filesystem::path summary;
    std::optional<std::size_t> rounds;
    std::optional<double> seconds;
    std::optional<std::size_t> leases;
};

plan to_plan(all_choices const& chosen)
{
    plan how;
    if (chosen.quick)
        how = {.quick = true, .rounds = 2, .measured = 300ms, .warm_up = 100ms, .leases = 10'000, .leases_ttl = 6'000ms, .names = 10'000};
    if (chosen.rounds) how.rounds = *chosen.rounds;
    if (chosen.seconds) how.measured = to_duration(*chosen.seconds);
    if (chosen.leases) how.leases = *chosen.leases;
    return how;
}

void write_summary(std::filesystem::path const& file, json const& summary)
{
    std::ofstream out{file};
    out << summary.dump(2) << '\n';
    if (!out.flush()) throw std::runtime_error{"cannot write " + file.string()};
}

void measure_everything(all_choices const& chosen)
{
    std::vector<step> wanted;
    std::ranges::copy_if(steps(), std::back_inserter(wanted),
                         [&](step const& s) { return chosen.only.empty() || std::ranges::find(chosen.only, s.name) != chosen.only.end(); });
    run r{to_plan(chosen)};
    json failed = json::object();
    auto const began = steady::now();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        double const seconds = std::chrono::duration<double>{steady::now() - began}.count();
        std::fprintf(stderr, "[%2zu/%zu] %3.0f s  %s\n", i + 1, wanted.size(), seconds, wanted[i].what);
        // On a busy machine one of twenty can fail, after minutes in which the others did not.
        try {
            wanted[i].measure(r);
        } catch (std::exception const& e) {
            std::fprintf(stderr, "    FAILED: %s\n", e.what());
            failed[wanted[i].name] = e.what();
            r.drop_testbeds();
        }
    }
    r.put("quick", chosen.quick ? 1 : 0);
    r.put("bench_seconds", std::chrono::duration<double>{steady::now() - began}.count());
    json summary = r.summary();
    if (!failed.empty()) summary["failed"] = failed;
    if (!chosen.summary.empty()) write_summary(chosen.summary, summary);
    if (!chosen.output.empty() || chosen.summary.empty()) {
        json wished = json::array();
        for (auto const& g : goals()) wished.push_back({{"name", g.name}, {"value", g.value}, {"at_most", g.at_most}});
        report(chosen, "speed", {{"summary", std::move(summary)}, {"goals", std::move(wished)}, {"details", r.details()}});
    }
    if (!failed.empty()) throw std::runtime_error{"these steps failed, the others are in the summary: " + failed.dump()};
}

}  // namespace

void add_all(CLI::App& app)
{
    auto const chosen = std::make_shared<all_choices>();
    auto& command = *app.add_subcommand("all", "Everything, or some steps of it");
    std::vector<std::string> names;
    for (auto const& s : steps()) names.emplace_back(s.name);
    command.add_flag("--quick", chosen->quick, "Short, to see that it works: the figures mean little");
    command.add_option("--only", chosen->only, "These steps")->check(CLI::IsMember(names));
    command.add_option("--rounds", chosen->rounds, "Runs of each worker, in turns")->check(CLI::Range(1, 1000));
    command.add_option("--seconds", chosen->seconds, "How long each run is measured")->check(CLI::PositiveNumber);
    command.add_option("--leases", chosen->leases, "How many are kept alive")->check(CLI::Range(1, 999'999));
    command.add_option("--summary", chosen->summary, "Where the summary goes, names and numbers");
    command.add_option("--output", chosen->output,
                       "Where the JSON of everything goes; default: standard output, unless there is a summary");
    command.callback([chosen] { measure_everything(*chosen); });
}

}  // namespace bench
