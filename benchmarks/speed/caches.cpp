// Misses of caches that callgrind simulates: why many callers cost more time than instructions say.
#include "in_step.hpp"
#include "report.hpp"
#include "run.hpp"
#include "speed.hpp"

#include <algorithm>
#include <bit>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace bench {

namespace {

struct caches_choices : choices {
    std::vector<std::size_t> callers{256, 2000};
    std::size_t first_level{48};
    std::size_t second_level{1024};
    std::filesystem::path keep;
};

// In the form that callgrind wants, which simulates no other caches.
std::string cache(std::size_t kib, std::size_t ways)
{
    constexpr std::size_t line = 64;
    std::size_t const sets = kib * 1024 / (ways * line);
    if (!std::has_single_bit(sets) || sets * ways * line != kib * 1024)
        throw std::invalid_argument{"a cache of " + std::to_string(kib) + " KiB and " + std::to_string(ways) +
                                    " ways: the number of its sets must be a power of two"};
    return std::to_string(kib * 1024) + ',' + std::to_string(ways) + ',' + std::to_string(line);
}

void measure(caches_choices const& chosen)
{
    // callgrind knows two levels, and calls the second one the last.
    std::vector<std::string> const options{"--cache-sim=yes", "--D1=" + cache(chosen.first_level, 12),
                                           "--LL=" + cache(chosen.second_level, 16)};
    plan how;
    run r{how};
    for (std::size_t const callers : chosen.callers) {
        for (worker_kind const& who : {coroutines_floor, duties_floor, this_library}) {
            workload work = r.three().work(callers, false);
            work.pairs = std::max(8 * callers, std::min<std::size_t>(40 * callers, 10'240));  // half a minute with the default
            std::string const of = std::string{who.name} + "_c" + std::to_string(callers);
            auto const counts = callgrind_counts_per_pair(work, who, options, chosen.keep.empty() ? chosen.keep : chosen.keep / of);
            r.put(of + "_instructions_per_pair", counts.at("Ir"));
            r.put(of + "_first_level_misses_per_pair", counts.at("D1mr") + counts.at("D1mw"));
            r.put(of + "_second_level_misses_per_pair", counts.at("DLmr") + counts.at("DLmw"));
        }
    }
    report(chosen, "caches",
           {{"first_level_kib", chosen.first_level}, {"second_level_kib", chosen.second_level}, {"summary", r.summary()}});
}

}  // namespace

void add_caches(CLI::App& app)
{
    auto const chosen = std::make_shared<caches_choices>();
    auto& command = *app.add_subcommand("caches", "Instructions, and misses of caches that valgrind simulates, of a pair; three nodes");
    command.add_option("--callers", chosen->callers, "Who acquire and release all the time")->capture_default_str();
    command.add_option("--first-level", chosen->first_level, "KiB of the data cache of 12 ways")->capture_default_str();
    command.add_option("--second-level", chosen->second_level, "KiB of the cache of 16 ways")->capture_default_str();
    command.add_option("--keep", chosen->keep, "A folder for callgrind's files, for callgrind_annotate")->check(CLI::ExistingDirectory);
    command.add_option("--output", chosen->output, "Where the JSON goes; default: standard output");
    command.callback([chosen] { measure(*chosen); });
}

}  // namespace bench
