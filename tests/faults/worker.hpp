// A process that locks, extends, writes to the register, loses, and writes down what it saw.
#ifndef REDLOCK_TESTS_FAULTS_WORKER_HPP
#define REDLOCK_TESTS_FAULTS_WORKER_HPP

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace redlock::faults {

enum class work_kind : std::uint8_t {
    servers,
    group,        ///< The only node is a group: all locks have tokens, since others may be lost in a failover.
    plain_group,  ///< All locks are without tokens, and are held long enough to be lost.
};

struct worker_options {
    std::string name;
    std::vector<std::string> nodes;     ///< URLs.
    std::string register_host;
    std::uint16_t register_port{0};
    std::filesystem::path log;
    std::uint64_t seed{0};
    bool bootstrap{false};                  ///< Nothing was ever locked on these nodes.
    work_kind kind{work_kind::servers};
};

/// Works until SIGTERM; then finishes what it does, gives everything back, and ends. The exit code of the process.
int run_worker(worker_options const& options);

}  // namespace redlock::faults

#endif
