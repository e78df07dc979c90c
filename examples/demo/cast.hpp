// Who and what takes part in the demo.
#ifndef REDLOCK_DEMO_CAST_HPP
#define REDLOCK_DEMO_CAST_HPP

#include <array>
#include <chrono>
#include <cstddef>

namespace demo {

using namespace std::chrono_literals;

inline constexpr std::size_t node_count = 5;
inline constexpr std::size_t worker_count = 3;  // processes
inline constexpr std::array<char const*, 3> lock_names{"orders", "reports", "billing"};
inline constexpr std::size_t lock_count = lock_names.size();
inline constexpr std::size_t contenders_per_lock = 2;  // coroutines in each process

// Also the longest on these nodes: a node that lost its data is quarantined for as long, and 1 %.
inline constexpr std::chrono::milliseconds ttl = 1s;

// Twice the library's default: this machine may be building something else meanwhile, and a process that does not get
// the CPU cannot stop in time.
inline constexpr std::chrono::milliseconds stop_margin = 200ms;

inline constexpr std::chrono::milliseconds min_work = 100ms;
inline constexpr std::chrono::milliseconds max_work = 1'500ms;  // beyond the ttl: only the watchdog makes this safe
inline constexpr std::chrono::milliseconds long_work = 20s;     // beyond the demo: only a cancellation ends it

// Who has just had the lock stays away for longer than the others' pauses between attempts, so that all get their turn.
inline constexpr std::chrono::milliseconds max_retry_delay = 100ms;
inline constexpr std::chrono::milliseconds min_pause = 150ms;
inline constexpr std::chrono::milliseconds max_pause = 400ms;

constexpr char worker_letter(std::size_t worker) { return static_cast<char>('A' + worker); }

}  // namespace demo

#endif
