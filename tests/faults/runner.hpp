// One run: servers and workers, faults by the schedule, and what came of it.
//
// tests/faults/ in parts: fault.hpp says what can go wrong and schedule.hpp when; fleet.hpp has the servers, with their clocks (clock_file.hpp,
// clock_shim.cpp), crew.hpp the workers (worker.hpp, diary.hpp) and what they write to (register.hpp), packet_wire.hpp the network
// between them; injector.hpp does it. For a group that Sentinels watch: group_fault.hpp, group_scene.hpp with packet_hub.hpp, group_run.hpp and
// group_table.hpp. All write records.hpp; checker.hpp and table.hpp read them.
#ifndef REDLOCK_TESTS_FAULTS_RUNNER_HPP
#define REDLOCK_TESTS_FAULTS_RUNNER_HPP

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace redlock::faults {

struct run_options {
    std::chrono::milliseconds duration;
    std::uint64_t seed;
    std::string server;  ///< A program: redis-server or valkey-server.
    std::filesystem::path folder;  ///< Logs go to FOLDER/SEED.
    bool keep;  ///< The logs, also when all was well.
    std::string no_namespace;  ///< Why there is no network namespace; empty: there is.
    std::vector<std::string> only;  ///< Names of faults; empty: all of them.
    bool group{false};  ///< A group that Sentinels watch, with its own faults.
    std::chrono::milliseconds slack{2'000};  ///< In a group: how long after max_ttl acquisitions must go on.
    bool
        misconfigured;  ///< Workers that share no majority, or in a group locks without tokens: the run must fail, or it would notice nothing.
};

/// Prints progress, the table and the verdict. The exit code of the process: 0 when nothing happened that must not, every fault was there,
/// and somebody worked.
int run_faults(run_options const& options);

}  // namespace redlock::faults

#endif
