// Which fault comes when: a function of the seed.
#ifndef REDLOCK_TESTS_FAULTS_SCHEDULE_HPP
#define REDLOCK_TESTS_FAULTS_SCHEDULE_HPP

#include "fault.hpp"
#include "simulation/random.hpp"

#include <cstdint>
#include <vector>

namespace redlock::faults {

/// Faults that are there at the same time, and how long it is quiet when they are over.
struct phase {
    std::vector<fault> faults;
    milliseconds settle;

    friend bool operator==(phase const&, phase const&) = default;
};

/// First each kind once, in an order drawn from the seed, one at a time; then at random, for ever, and sometimes two of them at once that
/// together hit no more than a minority.
class schedule {
public:
    /// Only of these kinds.
    schedule(std::uint64_t seed, std::vector<fault_kind> kinds);

    phase next();

private:
    fault draw(fault_kind kind);
    void choose_nodes(fault& what);

    simulation::random random_;
    std::vector<fault_kind> kinds_;
    std::size_t drawn_{0};
};

}  // namespace redlock::faults

#endif
