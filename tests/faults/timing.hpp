// Short times, so that many faults fit into a minute: leases of half a second, and nodes that lost their data vote again soon.
#ifndef REDLOCK_TESTS_FAULTS_TIMING_HPP
#define REDLOCK_TESTS_FAULTS_TIMING_HPP

#include <chrono>
#include <cstddef>

namespace redlock::faults {

using std::chrono::milliseconds;

/// What locks and clients are like.
struct tempo {
    milliseconds ttl;
    milliseconds max_ttl;
    milliseconds node_timeout;
    milliseconds min_long_section;  ///< Of sections whose lease has to be extended.
    milliseconds max_long_section;
    milliseconds acquire_timeout;
    std::size_t long_sections_percent{2};
};

inline constexpr tempo on_servers{milliseconds{500}, milliseconds{600},   milliseconds{100},
                                  milliseconds{600}, milliseconds{1'500}, milliseconds{2'000}};

/// In a group a vote waits for a replica, and after a failover nobody acquires for seconds.
inline constexpr tempo in_a_group{milliseconds{1'000}, milliseconds{1'500}, milliseconds{500},
                                  milliseconds{1'200}, milliseconds{3'000}, milliseconds{5'000}};

/// So long that a failover takes less.
inline constexpr tempo held_long_in_a_group{
    milliseconds{5'000}, milliseconds{6'000}, milliseconds{500}, milliseconds{3'000}, milliseconds{4'500}, milliseconds{5'000}, 100};

/// How long the runner waits for anything: disks and processors may be busy elsewhere, and that is no fault of ours.
inline constexpr milliseconds patience{60'000};

}  // namespace redlock::faults

#endif
