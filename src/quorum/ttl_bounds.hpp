// The shortest and the longest ttl of a lock.
#ifndef REDLOCK_QUORUM_TTL_BOUNDS_HPP
#define REDLOCK_QUORUM_TTL_BOUNDS_HPP

#include <chrono>

namespace redlock::quorum {

// Between these, a ttl leaves a validity to count with. The second one is also for a ttl together with its lock_delay.
struct ttl_bounds {
    static constexpr std::chrono::milliseconds least{10};
    static constexpr std::chrono::milliseconds most = std::chrono::days{30};
};

}  // namespace redlock::quorum

#endif
