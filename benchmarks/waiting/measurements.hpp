// The measurements, as commands of one program.
#ifndef REDLOCK_BENCHMARKS_MEASUREMENTS_HPP
#define REDLOCK_BENCHMARKS_MEASUREMENTS_HPP

#include <CLI/CLI.hpp>

namespace bench {

void add_handoff(CLI::App& app);
void add_remote(CLI::App& app);
void add_idle(CLI::App& app);
void add_fair(CLI::App& app);
void add_crowd(CLI::App& app);
void add_replicas(CLI::App& app);
void add_permits(CLI::App& app);

/// Not a measurement: a process that holds locks for one, driven by the lines of tests/interop/holder.mjs.
void add_holder(CLI::App& app);

}  // namespace bench

#endif
