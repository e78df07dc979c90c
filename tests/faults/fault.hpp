// What can go wrong, and what of it the promises are made for.
#ifndef REDLOCK_TESTS_FAULTS_FAULT_HPP
#define REDLOCK_TESTS_FAULTS_FAULT_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace redlock::faults {

using std::chrono::milliseconds;

inline constexpr std::size_t node_count = 5;
inline constexpr std::size_t worker_count = 4;

/// The most that may fail while the others are a majority.
inline constexpr std::size_t minority = (node_count - 1) / 2;

/// How the servers keep their data: node 0 and node 4 do not.
enum class persistence : std::uint8_t { none, rdb, aof_everysec, aof_always };

inline constexpr persistence persistence_of[node_count] = {persistence::none, persistence::rdb, persistence::aof_everysec,
                                                           persistence::aof_always, persistence::none};

enum class fault_kind : std::uint8_t {
    kill_without_memory,
    kill_rdb,
    kill_everysec,
    kill_always,
    kill_majority,
    stop_server,
    stop_majority,
    stop_worker,
    kill_worker,
    cut,
    half_open,
    delayed,
    throttled,
    late,
    packet_loss,
    packet_delay,
    partition,
    client_pause,
    debug_sleep,
    client_kill,
    flush_all,
    delete_lock,
    script_flush,
    out_of_memory,
    replica_attached,
    demoted,
    clock_forward,
    clock_backward,
    clock_fast,
    clock_drift,
};

inline constexpr std::size_t fault_kind_count = static_cast<std::size_t>(fault_kind::clock_drift) + 1;

/// While it lasts, and for leases that existed then: which locks may overlap, since their assumptions do not hold? The tokens of locks with
/// fencing are in order in any case.
enum class breaks : std::uint8_t {
    nothing,  ///< None.
    plain_locks,  ///< Those without tokens: a server forgets what it granted. With tokens it has no vote until that can do no harm.
    all_locks,  ///< All: keys vanish one by one, or early, and nothing shows it.
};

struct fault_traits {
    std::string_view name;
    std::string_view text;  ///< What is done.
    breaks assumptions;
    std::size_t min_nodes;  ///< How many nodes it hits.
    std::size_t max_nodes;
    milliseconds min_length;
    milliseconds max_length;
    std::int64_t min_size;  ///< How much of it, in the unit that the text names.
    std::int64_t max_size;
    bool needs_namespace;
};

fault_traits const& traits(fault_kind kind) noexcept;

/// All of them, in the order of the table.
std::span<fault_kind const> all_fault_kinds() noexcept;

struct fault {
    fault_kind kind;
    std::vector<std::size_t> nodes;  ///< Sorted.
    std::size_t worker{0};
    milliseconds length{};
    std::int64_t size{0};

    friend bool operator==(fault const&, fault const&) = default;
};

}  // namespace redlock::faults

#endif
