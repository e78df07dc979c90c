#include "in_step.hpp"

#include "forked.hpp"
#include "report.hpp"
#include "speed.hpp"

#include "support/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <type_traits>

#include <fcntl.h>
#include <unistd.h>

namespace bench {

namespace {

constexpr std::array<worker_kind, 5> kinds{this_library, epoll_floor, boost_redis_floor, coroutines_floor, duties_floor};

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

// callgrind's file names its events in one line, and has their totals, in the same order, in another one.
std::map<std::string, double> totals_of(std::filesystem::path const& counts)
{
    std::ifstream in{counts};
    std::istringstream events, totals;
    for (std::string line; std::getline(in, line);) {
        if (line.starts_with("events: ")) events.str(line.substr(8));
        if (line.starts_with("totals: ")) totals.str(line.substr(8));
    }
    std::map<std::string, double> all;
    std::string event;
    for (double count = 0; events >> event && totals >> count;) all[event] = count;
    return all;
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
    return std::ranges::find(kinds, chosen.kind, &worker_kind::name)->run(what);
}

}  // namespace

std::string output_of(std::vector<std::string> const& program)
{
    redlock::testing::temporary_folder const folder;
    auto const output = folder.path() / "output";
    forked{[&] { become(program, output.string()); }}.join();
    return text_of(output);
}

callgrind_counts run_under_callgrind(std::string const& function, std::vector<std::string> const& program,
                                     std::vector<std::string> const& options, std::filesystem::path const& keep)
{
    redlock::testing::temporary_folder const folder;
    auto const counts = keep.empty() ? folder.path() / "counts" : keep;
    std::vector<std::string> words{"valgrind",
                                   "-q",
                                   "--tool=callgrind",
                                   "--callgrind-out-file=" + counts.string(),
                                   "--collect-atstart=no",
                                   "--toggle-collect=" + function + "*"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), program.begin(), program.end());
    // callgrind counts each byte of `rep movsb`, so the C library copies without it; the processor counts it once.
    words.insert(words.begin(), {"env", "GLIBC_TUNABLES=glibc.cpu.hwcaps=-ERMS,-FSRM"});
    callgrind_counts found;
    found.output = output_of(words);
    found.events = totals_of(counts);
    if (!(found.events["Ir"] > 0)) throw std::runtime_error{"callgrind counted nothing in " + function};
    return found;
}

std::map<std::string, double> callgrind_counts_per_pair(workload work, worker_kind const& who, std::vector<std::string> const& options,
                                                        std::filesystem::path const& keep)
{
    relay const between{work.at};
    work.at = between.ports();
    std::vector<std::string> worker{own_path(),
                                    "worker",
                                    std::string{who.name},
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
    auto found = run_under_callgrind("bench::counted_turn", worker, options, keep);
    double const pairs = std::stod(found.output);
    for (auto& [event, count] : found.events) count /= pairs;
    return found.events;
}

void add_worker(CLI::App& app)
{
    auto const part = std::make_shared<worker_choices>();
    auto& worker = *app.add_subcommand("worker",
                                       "One worker in step with its servers; other commands start it. Says how many pairs were measured");
    std::vector<std::string> names;
    for (worker_kind const& k : kinds) names.emplace_back(k.name);
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
