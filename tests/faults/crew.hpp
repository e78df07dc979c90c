// The worker processes, and the register process that they write to.
#ifndef REDLOCK_TESTS_FAULTS_CREW_HPP
#define REDLOCK_TESTS_FAULTS_CREW_HPP

#include "fault.hpp"
#include "records.hpp"
#include "worker.hpp"

#include "support/child_process.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace redlock::faults {

/// Where a worker works, and what it knows.
struct work_place {
    std::vector<std::string> under;  ///< What executes it; empty: nothing.
    std::vector<std::string> nodes;  ///< URLs.
    std::string register_host;
    work_kind kind{work_kind::servers};
};

/// Thread safety: none.
class crew {
public:
    /// Starts the register, which listens on `register_address`. Worker i works at places[i].
    crew(std::filesystem::path folder, std::uint64_t seed, std::string const& register_address, std::vector<work_place> places);

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

    void launch(std::size_t worker, bool bootstrap);
    std::string last_words(std::size_t worker) const;

    std::filesystem::path folder_;
    std::uint64_t seed_;
    std::vector<work_place> places_;
    std::uint16_t register_port_{0};
    std::optional<testing::child_process> register_;
    std::array<member, worker_count> workers_;
};

}  // namespace redlock::faults

#endif
