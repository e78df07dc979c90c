// Random schedules of the token protocol on real servers. Prints what it saw; ends with 1 if a promise was broken, or, with
// --mutant, if none was.
#include "schedule.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace redlock::fencing;

struct totals {
    std::mutex guard{};
    std::uint64_t schedules{0};
    std::uint64_t violations{0};
    std::uint64_t first_death{0};
    outcome sum{};
    std::string error{};
    std::ofstream* transitions{nullptr};
};

// Each thread has servers of its own; schedule i is the same on any of them.
void work(totals& all, std::atomic<std::uint64_t>& next, std::uint64_t count, std::uint64_t seed, mutant m)
{
    try {
        cluster world;
        for (std::uint64_t i = next++; i < count; i = next++) {
            schedule one{world, seed + i, m, all.transitions != nullptr};
            outcome const o = one.run();
            std::lock_guard const lock{all.guard};
            if (all.transitions) *all.transitions << one.transitions_text();
            ++all.schedules;
            all.sum.add(o);
            if (o.violation.empty()) continue;
            ++all.violations;
            if (all.violations == 1) all.first_death = all.schedules;
            std::printf("violation: %s\n", o.violation.c_str());
            if (m != mutant::none || all.violations >= 10) next = count;  // seen enough
        }
    } catch (std::exception const& e) {
        std::lock_guard const lock{all.guard};
        all.error = e.what();
        next = count;
    }
}

}  // namespace

int main(int argc, char** argv)
{
    std::uint64_t count = 20'000;
    std::uint64_t seed = 1;
    unsigned jobs = 2;
    std::string mutant_name{mutant_names[0]};
    CLI::App app{"Random schedules of the token protocol on real servers"};
    app.add_option("--schedules", count, "How many");
    app.add_option("--seed", seed, "Of the first schedule; the next has the next number");
    app.add_option("--jobs", jobs, "Threads, each with servers of its own")->check(CLI::Range(1u, 64u));
    app.add_option("--mutant", mutant_name, "What to leave out; it must be missed within the run")
        ->check(CLI::IsMember(std::vector<std::string>(mutant_names.begin(), mutant_names.end())));
    std::string transitions;
    app.add_option("--transitions", transitions, "Write what happens in the proof's terms to this file, for tests/proof/replay.py")
        ->type_name("FILE");
    CLI11_PARSE(app, argc, argv);

    auto const chosen = std::find(mutant_names.begin(), mutant_names.end(), mutant_name);
    auto const m = static_cast<mutant>(std::distance(mutant_names.begin(), chosen));
    totals all;
    std::ofstream out;
    if (!transitions.empty()) {
        out.open(transitions, std::ios::binary | std::ios::trunc);
        all.transitions = &out;
    }
    std::atomic<std::uint64_t> next{0};
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < jobs; ++i) threads.emplace_back([&] { work(all, next, count, seed, m); });
    threads.clear();
    out.close();
    if (all.transitions && !out) all.error = "cannot write " + transitions;

    auto const n = [](std::uint64_t x) { return static_cast<unsigned long long>(x); };
    std::printf("schedules=%llu attempts=%llu completed=%llu losses=%llu admissions=%llu extensions=%llu recreates=%llu "
                "violations=%llu\n",
                n(all.schedules), n(all.sum.attempts), n(all.sum.completed), n(all.sum.losses), n(all.sum.admissions),
                n(all.sum.extensions), n(all.sum.recreates), n(all.violations));
    if (!all.error.empty()) {
        std::printf("error: %s\n", all.error.c_str());
        return 2;
    }
    if (m == mutant::none) return all.violations == 0 ? 0 : 1;
    std::printf("mutant=%s %s\n", mutant_name.c_str(),
                all.violations > 0 ? ("died after " + std::to_string(all.first_death)).c_str() : "lived");
    return all.violations > 0 ? 0 : 1;
}
