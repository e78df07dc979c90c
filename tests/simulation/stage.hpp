// What the users of one schedule share: the world and its judge, the locks, and what is drawn for all of them.
#ifndef REDLOCK_TESTS_SIMULATION_STAGE_HPP
#define REDLOCK_TESTS_SIMULATION_STAGE_HPP

#include "judge.hpp"
#include "state_judge.hpp"
#include "universe.hpp"

#include <redlock/options.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redlock::simulation {

enum class kinds : std::uint8_t { with_tokens, without_tokens, mixed };

struct stage {
    universe& world;
    judge& rules;
    lock_options usual{};            // of most locks
    std::vector<std::string> names{};  // of the locks
    duration longest_hold{};
    bool calm{false};                 // no faults in this schedule: some things then hold at once
    kinds of_locks{kinds::with_tokens};
    std::uint32_t max_block{1};       // of tokens that are wanted at once
    bool queues{false};               // many wait through one client
    std::uint64_t owners{0};          // that there are
    std::size_t at_work{0};           // users
    bool has_tickets{false};          // leases are detached and adopted
    std::vector<detached_lease> tickets{};
    bool has_rw_locks{false};         // many read, or one writes
    state_judge* states{nullptr};     // where holders publish and inherit
    bool long_leases{false};          // of every other process: its max_ttl and its ttl are twice as long as those of the others
    std::uint32_t permits{0};         // of semaphores, which most users have; 0: none has
};

// The ttl of a process's leases.
inline std::chrono::milliseconds process_ttl(stage const& on, std::size_t process)
{
    return on.long_leases && process % 2 == 1 ? 2 * on.usual.ttl : on.usual.ttl;
}

}  // namespace redlock::simulation

#endif
