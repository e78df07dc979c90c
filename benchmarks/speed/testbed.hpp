// Servers that are measured.
#ifndef REDLOCK_BENCHMARKS_SPEED_TESTBED_HPP
#define REDLOCK_BENCHMARKS_SPEED_TESTBED_HPP

#include "fleet.hpp"
#include "workload.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// A fleet on processors that its clients do not use, which knows the scripts and has admitted its nodes.
class testbed {
public:
    explicit testbed(std::size_t nodes);

    fleet const& servers() const noexcept { return servers_; }
    redlock::testing::redis_server& operator[](std::size_t i) { return servers_[i]; }
    redlock::testing::redis_server const& operator[](std::size_t i) const { return servers_[i]; }
    std::size_t size() const noexcept { return servers_.size(); }
    workload work(std::size_t callers, bool fencing) const;

private:
    fleet servers_;
    std::vector<std::string> ids_;
};

}  // namespace bench

#endif
