// The commands of the speed program: each adds a subcommand; its callback measures, and writes JSON.
#ifndef REDLOCK_BENCHMARKS_SPEED_SPEED_HPP
#define REDLOCK_BENCHMARKS_SPEED_SPEED_HPP

namespace CLI {
class App;
}

namespace bench {

void add_compare(CLI::App& app);
void add_all(CLI::App& app);
void add_instructions(CLI::App& app);
void add_caches(CLI::App& app);
void add_worker(CLI::App& app);

}  // namespace bench

#endif
