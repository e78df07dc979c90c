// What the programs with random schedules have in common: threads with servers of their own, the sum of what they saw, and the verdict.
#ifndef REDLOCK_TESTS_FENCING_DRIVE_HPP
#define REDLOCK_TESTS_FENCING_DRIVE_HPP

#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <iterator>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace redlock::fencing {

inline unsigned long long printed(std::uint64_t number) { return number; }

// The first of `mutants` leaves nothing out.
class drive_choices {
public:
    drive_choices(CLI::App& app, std::span<std::string_view const> mutants) : mutants_{mutants}, name_{mutants.front()}
    {
        app.add_option("--schedules", count, "How many");
        app.add_option("--seed", seed, "Of the first schedule; the next has the next number");
        app.add_option("--jobs", jobs, "Threads, each with servers of its own")->check(CLI::Range(1u, 64u));
        app.add_option("--mutant", name_, "What to leave out; it must be missed within the run")
            ->check(CLI::IsMember(std::vector<std::string>(mutants.begin(), mutants.end())));
    }

    template <class Mutant>
    Mutant mutant() const
    {
        return static_cast<Mutant>(std::distance(mutants_.begin(), std::find(mutants_.begin(), mutants_.end(), name_)));
    }
    bool is_whole() const { return name_ == mutants_.front(); }
    std::string const& mutant_name() const noexcept { return name_; }

    std::uint64_t count{20'000};
    std::uint64_t seed{1};
    unsigned jobs{2};

private:
    std::span<std::string_view const> mutants_;
    std::string name_;
};

template <class Outcome>
struct driven {
    std::mutex guard{};
    std::uint64_t schedules{0};
    std::uint64_t violations{0};
    std::uint64_t first_death{0};
    Outcome sum{};
    std::string error{};
};

// Each thread has a world of its own; `one(world, seed)` is the same in any of them.
template <class World, class Outcome, class One>
void work(driven<Outcome>& all, std::atomic<std::uint64_t>& next, drive_choices const& chosen, One const& one)
{
    try {
        World world;
        for (std::uint64_t i = next++; i < chosen.count; i = next++) {
            Outcome const o = one(world, chosen.seed + i);
            std::lock_guard const lock{all.guard};
            ++all.schedules;
            all.sum.add(o);
            if (o.violation.empty()) continue;
            if (++all.violations == 1) all.first_death = all.schedules;
            std::printf("violation: %s\n", o.violation.c_str());
            if (!chosen.is_whole() || all.violations >= 10) next = chosen.count;  // seen enough
        }
    } catch (std::exception const& e) {
        std::lock_guard const lock{all.guard};
        all.error = e.what();
        next = chosen.count;
    }
}

template <class World, class Outcome, class One>
void drive(driven<Outcome>& all, drive_choices const& chosen, One const& one)
{
    std::atomic<std::uint64_t> next{0};
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < chosen.jobs; ++i) threads.emplace_back([&] { work<World>(all, next, chosen, one); });
}

// The end of the program: 1 if a promise was broken, or, of a mutant, if none was; 2 if nothing can be said.
template <class Outcome>
int verdict(driven<Outcome> const& all, drive_choices const& chosen)
{
    if (!all.error.empty()) {
        std::printf("error: %s\n", all.error.c_str());
        return 2;
    }
    if (chosen.is_whole()) return all.violations == 0 ? 0 : 1;
    std::printf("mutant=%s %s\n", chosen.mutant_name().c_str(),
                all.violations > 0 ? ("died after " + std::to_string(all.first_death)).c_str() : "lived");
    return all.violations > 0 ? 0 : 1;
}

}  // namespace redlock::fencing

#endif
