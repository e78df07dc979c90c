// Instructions in user mode: what locks cost, whoever else uses the machine. Counted by the processor where the kernel lets a process ask for that,
// otherwise by callgrind. Client and servers go in step (relay.hpp), so that a run has the same messages as the one before.
#include "allocations.hpp"
#include "in_step.hpp"
#include "processors.hpp"
#include "report.hpp"
#include "run.hpp"
#include "speed.hpp"
#include "testbed.hpp"

#include <boost/version.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>

namespace bench {

namespace {

enum class way : std::uint8_t { perf_event_open, callgrind };

char const* name_of(way w) { return w == way::callgrind ? "callgrind" : "perf_event_open"; }

way best_way() { return redlock::testing::instruction_counter{}.counts() ? way::perf_event_open : way::callgrind; }

struct task {
    char const* key;
    worker_kind const& who;
    std::size_t nodes;
    std::size_t callers;
    bool fencing;
    std::size_t pairs;
    std::size_t runs{1};  ///< One caller has less to average over.
};
constexpr std::array<task, 11> tasks{{{"instructions_per_pair_n3_c256", this_library, 3, 256, false, 10'240},
                                      {"instructions_per_pair_n5_c256", this_library, 5, 256, false, 10'240},
                                      {"fenced_instructions_per_pair_n3_c256", this_library, 3, 256, true, 5'120},
                                      {"instructions_per_pair_n3_c1", this_library, 3, 1, false, 500, 3},
                                      {"epoll_floor_instructions_per_pair_n3_c256", epoll_floor, 3, 256, false, 20'480},
                                      {"boost_redis_floor_instructions_per_pair_n3_c256", boost_redis_floor, 3, 256, false, 10'240},
                                      {"coroutines_floor_instructions_per_pair_n3_c256", coroutines_floor, 3, 256, false, 10'240},
                                      {"duties_floor_instructions_per_pair_n3_c256", duties_floor, 3, 256, false, 10'240},
                                      {"duties_floor_instructions_per_pair_n5_c256", duties_floor, 5, 256, false, 10'240},
                                      {"coroutines_floor_instructions_per_pair_n3_c1", coroutines_floor, 3, 1, false, 500, 3},
                                      {"duties_floor_instructions_per_pair_n3_c1", duties_floor, 3, 1, false, 500, 3}}};

double median_of(std::size_t runs, std::function<double()> const& one)
{
    std::vector<double> all(runs);
    std::ranges::generate(all, one);
    return median(std::move(all));
}

double instructions_per_pair(workload work, worker_kind const& who, way by)
{
    if (by == way::callgrind) return callgrind_counts_per_pair(std::move(work), who).at("Ir");
    relay const between{work.at};
    work.at = between.ports();
    work.in_step = between.line();
    return run_in_client_process<sample>([&] { return who.run(work); }).instructions_per_pair();
}

double instructions_per_pair(testbed const& where, task const& what, way by)
{
    workload work = where.work(what.callers, what.fencing);
    work.pairs = what.pairs;
    return instructions_per_pair(std::move(work), what.who, by);
}

// A quick run has few callers, too.
task quick(task t)
{
    t.callers = std::min<std::size_t>(t.callers, 16);
    t.pairs = 8 * t.callers;
    t.runs = 1;
    return t;
}

void measure_pairs(run& r, way by)
{
    for (task const& each : tasks) {
        task const t = r.how.quick ? quick(each) : each;
        r.put(t.key, median_of(t.runs, [&] { return instructions_per_pair(t.nodes == 3 ? r.three() : r.five(), t, by); }));
    }
}

double allocations_per_pair(testbed const& where, std::size_t pairs)
{
    workload work = where.work(256, true);
    relay const between{work.at};
    work.at = between.ports();
    work.in_step = between.line();
    work.pairs = pairs;
    return run_in_client_process<sample>([work] { return run_ours(work); }).allocations_per_pair();
}

double per_schedule(std::string const& simulate, std::size_t schedules, way by)
{
    std::vector<std::string> const program{simulate, "--jobs", "1", "--no-counters", "--seeds", std::to_string(schedules)};
    if (by == way::callgrind)
        return run_under_callgrind("redlock::simulation::run_schedule", program).events.at("Ir") / static_cast<double>(schedules);
    std::string const text = output_of(program);
    std::string const field = "instructions_per_schedule=";
    auto const at = text.find(field);
    if (at == std::string::npos) throw std::runtime_error{"simulate does not say its instructions"};
    return std::stod(text.substr(at + field.size()));
}

}  // namespace

double instructions_per_pair(workload const& what) { return instructions_per_pair(what, this_library, best_way()); }

void measure_instructions(run& r)
{
    way const by = best_way();
    std::fprintf(stderr, "    counted by %s\n", name_of(by));
    measure_pairs(r, by);
    r.add_detail("instructions_counted_by", name_of(by));
}

namespace {

struct instructions_choices : choices {
    std::string by;
    std::filesystem::path simulate;
    std::size_t schedules{100};
    std::size_t leases{100'000};
    bool only_bytes{false};
};

void measure(instructions_choices const& chosen)
{
    way const by = chosen.by.empty() ? best_way() : chosen.by == "callgrind" ? way::callgrind : way::perf_event_open;
    if (by == way::perf_event_open && best_way() != by)
        throw std::runtime_error{"perf_event_open is not permitted here, or the processor has no counter"};
    plan how;
    run r{how};
    std::fprintf(stderr, "    counted by %s\n", name_of(by));
    if (!chosen.only_bytes) measure_pairs(r, by);
    if (allocations_are_counted() && !chosen.only_bytes)
        r.put("fenced_allocations_per_pair_n3_c256", median_of(3, [&] { return allocations_per_pair(r.three(), 102'400); }));
    workload holders = r.three().work(256, true);
    holders.ttl = longest_ttl;  // nothing is extended meanwhile
    r.put("bytes_per_held_lease", bytes_per_held_lease(holders, chosen.leases));
    if (!chosen.simulate.empty()) r.put("instructions_per_schedule", per_schedule(chosen.simulate.string(), chosen.schedules, by));
    report(chosen, "instructions", {{"counted_by", name_of(by)}, {"boost", BOOST_LIB_VERSION}, {"summary", r.summary()}});
}

}  // namespace

void add_instructions(CLI::App& app)
{
    auto const chosen = std::make_shared<instructions_choices>();
    auto& command = *app.add_subcommand("instructions",
                                        "What does not depend on who else uses the machine: instructions, allocations, bytes");
    command.add_option("--by", chosen->by, "Who counts; default: perf_event_open where it is permitted")
        ->check(CLI::IsMember({"perf_event_open", "callgrind"}));
    command.add_option("--simulate", chosen->simulate, "The program simulate: its instructions for a schedule, too")
        ->check(CLI::ExistingFile);
    command.add_option("--schedules", chosen->schedules, "How many of them")->capture_default_str();
    command.add_option("--leases", chosen->leases, "That are held")->capture_default_str();
    command.add_flag("--only-bytes", chosen->only_bytes, "Only the bytes of a held lease");
    command.add_option("--output", chosen->output, "Where the JSON goes; default: standard output");
    command.callback([chosen] { measure(*chosen); });
}

}  // namespace bench
