// The servers of a measurement.
#ifndef REDLOCK_BENCHMARKS_FLEET_HPP
#define REDLOCK_BENCHMARKS_FLEET_HPP

#include "support/redis_server.hpp"

#include <redlock/config.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

namespace bench {

using ports = std::vector<std::uint16_t>;

/// The independent redis-servers of one measurement.
class fleet {
public:
    explicit fleet(std::size_t size);

    bench::ports ports() const;
    redlock::testing::redis_server const& operator[](std::size_t i) const { return servers_[i]; }
    redlock::testing::redis_server& operator[](std::size_t i) { return servers_[i]; }
    std::size_t size() const noexcept { return servers_.size(); }

private:
    std::deque<redlock::testing::redis_server> servers_;
};

/// What the nodes allow: longer than any measurement takes, where nothing is to be extended meanwhile.
inline constexpr std::chrono::minutes longest_ttl{15};

/// A configuration for servers that nobody has used before.
redlock::config bootstrap_config(bench::ports const& at);

}  // namespace bench

#endif
