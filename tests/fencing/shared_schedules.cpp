// Random schedules of read-write locks on real servers, which are compared with their models at each step. Prints what it saw; ends with 1 if a
// promise was broken or a server did otherwise than its model, or, with --mutant, if no promise was broken.
#include "shared_schedule.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <exception>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace redlock::fencing;

struct shared_totals {
    std::mutex guard{};
    std::uint64_t schedules{0};
    std::uint64_t violations{0};
    std::uint64_t first_death{0};
    shared_outcome sum{};
    std::string error{};
};

void work(shared_totals& all, std::atomic<std::uint64_t>& next, std::uint64_t count, std::uint64_t seed, shared_mutant m, bool with_models)
{
    try {
        shared_world world;
        for (std::uint64_t i = next++; i < count; i = next++) {
            shared_outcome const o = shared_schedule{world, scripts_of(m), seed + i, m, with_models}.run();
            std::lock_guard const lock{all.guard};
            ++all.schedules;
            all.sum.add(o);
            if (o.violation.empty()) continue;
            if (++all.violations == 1) all.first_death = all.schedules;
            std::printf("violation: %s\n", o.violation.c_str());
            if (m != shared_mutant::none || all.violations >= 10) next = count;  // seen enough
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
    std::string mutant_name{shared_mutant_names[0]};
    CLI::App app{"Random schedules of read-write locks on real servers"};
    app.add_option("--schedules", count, "How many");
    app.add_option("--seed", seed, "Of the first schedule; the next has the next number");
    app.add_option("--jobs", jobs, "Threads, each with servers of its own")->check(CLI::Range(1u, 64u));
    app.add_option("--mutant", mutant_name, "What to leave out; it must be missed within the run")
        ->check(CLI::IsMember(std::vector<std::string>(shared_mutant_names.begin(), shared_mutant_names.end())));
    bool with_models = false;
    app.add_flag("--models", with_models, "With --mutant: a server that does otherwise than its model counts, too");
    CLI11_PARSE(app, argc, argv);

    auto const chosen = std::find(shared_mutant_names.begin(), shared_mutant_names.end(), mutant_name);
    auto const m = static_cast<shared_mutant>(std::distance(shared_mutant_names.begin(), chosen));
    shared_totals all;
    with_models = with_models || m == shared_mutant::none;
    std::atomic<std::uint64_t> next{0};
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < jobs; ++i) threads.emplace_back([&] { work(all, next, count, seed, m, with_models); });
    threads.clear();

    auto const n = [](std::uint64_t x) { return static_cast<unsigned long long>(x); };
    std::printf("schedules=%llu attempts=%llu readers=%llu writers=%llu downgrades=%llu extensions=%llu together=%llu losses=%llu "
                "violations=%llu\n",
                n(all.schedules), n(all.sum.attempts), n(all.sum.readers), n(all.sum.writers), n(all.sum.downgrades), n(all.sum.extensions),
                n(all.sum.together), n(all.sum.losses), n(all.violations));
    if (!all.error.empty()) {
        std::printf("error: %s\n", all.error.c_str());
        return 2;
    }
    if (m == shared_mutant::none) return all.violations == 0 ? 0 : 1;
    std::printf("mutant=%s %s\n", mutant_name.c_str(),
                all.violations > 0 ? ("died after " + std::to_string(all.first_death)).c_str() : "lived");
    return all.violations > 0 ? 0 : 1;
}
