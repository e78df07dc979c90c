// The worker processes, and the register process that they write to.
#ifndef REDLOCK_TESTS_FAULTS_CREW_HPP
#define REDLOCK_TESTS_FAULTS_CREW_HPP

#include "fault.hpp"
#include "packet_wire.hpp"
#include "records.hpp"

#include "support/child_process.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace redlock::faults {

/// Thread safety: none.
class crew {
public:
    /// Starts the register. `wire`: null where there is none; otherwise every second worker works at its far end. `misconfigured`: half of
    /// the workers know only two of the nodes, and half only the other three.
    crew(std::filesystem::path folder, std::vector<std::uint16_t> node_ports, std::uint64_t seed, packet_wire* wire, bool misconfigured);

    /// Starts all workers, and waits until each has held a lock. Throws `std::runtime_error`.
    void start();

    void stop(std::size_t worker) { workers_[worker].process->stop(); }
    void resume(std::size_t worker) { workers_[worker].process->resume(); }
    void kill(std::size_t worker);
    void replace(std::size_t worker) { launch(worker, false); }

    /// Those that have ended without being told to, with what they said.
    std::vector<std::string> crashed();

    /// Lets them finish what they do, and ends the register. Returns what went wrong.
    std::vector<std::string> finish();

    /// What they wrote down.
    history read() const;

private:
    struct life {
        std::filesystem::path log;
        std::optional<moment> killed;
    };
    struct member {
        std::optional<testing::child_process> process;
        std::vector<life> lives;
    };

    bool far(std::size_t worker) const noexcept { return wire_ != nullptr && worker % 2 == 1; }
    void launch(std::size_t worker, bool bootstrap);
    std::string last_words(std::size_t worker) const;

    std::filesystem::path folder_;
    std::vector<std::uint16_t> node_ports_;
    std::uint64_t seed_;
    packet_wire* wire_;
    bool misconfigured_;
    std::uint16_t register_port_{0};
    std::optional<testing::child_process> register_;
    std::array<member, worker_count> workers_;
};

}  // namespace redlock::faults

#endif
