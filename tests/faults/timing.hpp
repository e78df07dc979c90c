// Short times, so that many faults fit into a minute: leases of half a second, and nodes that forgot may vote again soon.
#ifndef REDLOCK_TESTS_FAULTS_TIMING_HPP
#define REDLOCK_TESTS_FAULTS_TIMING_HPP

#include <chrono>

namespace redlock::faults {

using std::chrono::milliseconds;

inline constexpr milliseconds ttl{500};
inline constexpr milliseconds max_ttl{600};
inline constexpr milliseconds node_timeout{100};

}  // namespace redlock::faults

#endif
