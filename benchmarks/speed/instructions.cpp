// Instructions in user mode: what locks cost, whoever else uses the machine. Counted by the processor where the kernel lets a process ask for that,
// otherwise by callgrind. Client and servers go in step (relay.hpp), so that a run has the same messages as the one before.
#include "forked.hpp"
#include "report.hpp"
#include "testbed.hpp"
#include "processors.hpp"
#include "allocations.hpp"
#include "run.hpp"
#include "speed.hpp"

#include "support/temporary_folder.hpp"

#include <boost/version.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

namespace bench {

namespace {

enum class way : std::uint8_t { perf_event_open, callgrind };

char const* name_of(way w) { return w == way::callgrind ? "callgrind" : "perf_event_open"; }

way best_way() { return redlock::testing::instruction_counter{}.counts() ? way::perf_event_open : way::callgrind; }

struct kind {
    char const* name;
    sample (*run)(workload const&);
};
constexpr std::array<kind, 5> kinds{{{"redlock", &run_ours},
                                     {"epoll-floor", &run_epoll_baseline},
                                     {"boost-redis-floor", &run_boost_redis_baseline},
                                     {"coroutines-floor", &run_coroutines_baseline},
                                     {"duties-floor", &run_duties_baseline}}};

struct task {
    char const* key;
    std::size_t kind;
    std::size_t nodes;
    std::size_t callers;
    bool fencing;
    std::size_t pairs;
    std::size_t runs{1};  ///< One caller has less to average over.
};
constexpr std::array<task, 11> tasks{{{"instructions_per_pair_n3_c256", 0, 3, 256, false, 10'240},
                                      {"instructions_per_pair_n5_c256", 0, 5, 256, false, 10'240},
                                      {"fenced_instructions_per_pair_n3_c256", 0, 3, 256, true, 5'120},
                                      {"instructions_per_pair_n3_c1", 0, 3, 1, false, 500, 3},
                                      {"epoll_floor_instructions_per_pair_n3_c256", 1, 3, 256, false, 20'480},
                                      {"boost_redis_floor_instructions_per_pair_n3_c256", 2, 3, 256, false, 10'240},
                                      {"coroutines_floor_instructions_per_pair_n3_c256", 3, 3, 256, false, 10'240},
                                      {"duties_floor_instructions_per_pair_n3_c256", 4, 3, 256, false, 10'240},
                                      {"duties_floor_instructions_per_pair_n5_c256", 4, 5, 256, false, 10'240},
                                      {"coroutines_floor_instructions_per_pair_n3_c1", 3, 3, 1, false, 500, 3},
                                      {"duties_floor_instructions_per_pair_n3_c1", 4, 3, 1, false, 500, 3}}};

std::string own_path() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

// Never returns. What the program says goes to the file.
[[noreturn]] void become(std::vector<std::string> words, std::string const& output)
{
    int const fd = ::open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ::dup2(fd, STDOUT_FILENO) < 0) throw std::system_error{errno, std::generic_category(), output};
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execvp(arguments.front(), arguments.data());
    throw std::system_error{errno, std::generic_category(), words.front() + " (is it installed?)"};
}

std::string text_of(std::filesystem::path const& file)
{
    std::ifstream in{file};
    return {std::istreambuf_iterator<char>{in}, {}};
}

struct counted_run {
    double instructions;
    std::string output;
};

// Of what is called in functions with this name.
counted_run run_under_callgrind(std::string const& function, std::vector<std::string> const& program)
{
    redlock::testing::temporary_folder const folder;
    auto const counts = folder.path() / "counts";
    auto const output = folder.path() / "output";
    forked{[&] {
        std::vector<std::string> words{"valgrind",
                                       "-q",
                                       "--tool=callgrind",
                                       "--callgrind-out-file=" + counts.string(),
                                       "--collect-atstart=no",
                                       "--toggle-collect=" + function + "*"};
        words.insert(words.end(), program.begin(), program.end());
        // callgrind counts each byte of `rep movsb`, so the C library copies without it; the processor counts it once.
        ::setenv("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-ERMS,-FSRM", 1);
        become(std::move(words), output.string());
    }}.join();
    std::ifstream in{counts};
    double total = 0;
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("totals: ")) total = std::stod(line.substr(8));
    if (!(total > 0)) throw std::runtime_error{"callgrind counted nothing in " + function};
    return {total, text_of(output)};
}

std::string joined(auto const& values)
{
    std::string text;
    for (auto const& v : values) {
        if (!text.empty()) text += ',';
        if constexpr (std::is_integral_v<std::remove_cvref_t<decltype(v)>>) text += std::to_string(v);
        else text += v;
    }
    return text;
}

double median_of(std::size_t runs, std::function<double()> const& one)
{
    std::vector<double> all(runs);
    std::ranges::generate(all, one);
    return median(std::move(all));
}

double instructions_per_pair(workload work, std::size_t which, way by)
{
    relay const between{work.at};
    work.at = between.ports();
    work.in_step = between.line();
    if (by == way::perf_event_open) return run_in_client_process<sample>([&] { return kinds[which].run(work); }).instructions_per_pair();
    std::vector<std::string> worker{own_path(),
                                    "worker",
                                    kinds[which].name,
                                    "--callers",
                                    std::to_string(work.callers),
                                    "--pairs",
                                    std::to_string(work.pairs),
                                    "--line",
                                    std::to_string(between.line().fd()),
                                    "--at",
                                    joined(work.at),
                                    "--ids",
                                    joined(work.ids)};
    if (work.fencing) worker.emplace_back("--fencing");
    if (work.reading) worker.emplace_back("--reading");
    if (work.sharded) worker.emplace_back("--sharded");
    if (work.permits > 0) worker.insert(worker.end(), {"--permits", std::to_string(work.permits)});
    auto const done = run_under_callgrind("bench::counted_turn", worker);
    return done.instructions / std::stod(done.output);
}

double instructions_per_pair(testbed const& where, task const& what, way by)
{
    workload work = where.work(what.callers, what.fencing);
    work.pairs = what.pairs;
    return instructions_per_pair(std::move(work), what.kind, by);
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
        return run_under_callgrind("redlock::simulation::run_schedule", program).instructions / static_cast<double>(schedules);
    redlock::testing::temporary_folder const folder;
    auto const output = folder.path() / "output";
    forked{[&] { become(program, output.string()); }}.join();
    std::string const text = text_of(output);
    std::string const field = "instructions_per_schedule=";
    auto const at = text.find(field);
    if (at == std::string::npos) throw std::runtime_error{"simulate does not say its instructions"};
    return std::stod(text.substr(at + field.size()));
}

}  // namespace

double instructions_per_pair(workload const& what) { return instructions_per_pair(what, 0, best_way()); }

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
    holders.ttl = 30s;  // nearly nothing is extended meanwhile
    r.put("bytes_per_held_lease", bytes_per_held_lease(holders, chosen.leases));
    if (!chosen.simulate.empty()) r.put("instructions_per_schedule", per_schedule(chosen.simulate.string(), chosen.schedules, by));
    report(chosen, "instructions", {{"counted_by", name_of(by)}, {"boost", BOOST_LIB_VERSION}, {"summary", r.summary()}});
}

struct worker_choices {
    std::string kind;
    workload what;
    int line{-1};
};

sample work(worker_choices const& chosen)
{
    workload what = chosen.what;
    what.in_step.emplace(chosen.line);
    return std::ranges::find(kinds, chosen.kind, [](kind const& k) { return std::string{k.name}; })->run(what);
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

    auto const part = std::make_shared<worker_choices>();
    auto& worker = *app.add_subcommand("worker",
                                       "One worker in step with its servers; other commands start it. Says how many pairs were measured");
    std::vector<std::string> names;
    for (kind const& k : kinds) names.emplace_back(k.name);
    worker.add_option("kind", part->kind)->required()->check(CLI::IsMember(names));
    worker.add_option("--callers", part->what.callers)->required();
    worker.add_option("--pairs", part->what.pairs)->required();
    worker.add_option("--line", part->line, "The descriptor of its end of the relay")->required();
    worker.add_option("--at", part->what.at, "The relay's ports")->required()->delimiter(',');
    worker.add_option("--ids", part->what.ids, "Of the servers")->required()->delimiter(',');
    worker.add_flag("--fencing", part->what.fencing);
    worker.add_flag("--reading", part->what.reading);
    worker.add_flag("--sharded", part->what.sharded);
    worker.add_option("--permits", part->what.permits);
    worker.callback([part] { std::printf("%.0f\n", work(*part).pairs); });
}

}  // namespace bench
