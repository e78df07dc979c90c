// Short times, so that many faults fit into a minute: leases of half a second, and nodes that forgot may vote again soon.
#ifndef REDLOCK_TESTS_FAULTS_TIMING_HPP
#define REDLOCK_TESTS_FAULTS_TIMING_HPP

#include <chrono>

namespace redlock::faults {

using std::chrono::milliseconds;

inline constexpr milliseconds ttl{500};
inline constexpr milliseconds max_ttl{600};
inline constexpr milliseconds node_timeout{100};

/// How long the runner waits for anything: disks and processors may be busy elsewhere, and that is no fault of ours.
inline constexpr milliseconds patience{60'000};

}  // namespace redlock::faults

#endif
