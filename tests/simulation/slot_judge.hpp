// What must hold of semaphores: slots that nobody needs are given back, and holders agree on the number of permits.
#ifndef REDLOCK_TESTS_SIMULATION_SLOT_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_SLOT_JUDGE_HPP

#include "lease_facts.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <tuple>

namespace redlock::simulation {

class judge;

class slot_judge {
public:
    explicit slot_judge(judge& rules) : rules_{rules} {}

    // Where nothing goes wrong: a slot that an attempt does not need stays no longer than this, once all servers have answered its client.
    std::optional<duration> left_at_most;

    // After every step of the world.
    void check();

    // Two leases that are held at once. Clients that say different numbers do not hold permits of one semaphore at the same time.
    void check_numbers(lease_facts const& a, lease_facts const& b);

private:
    bool is_needed(std::string const& slot, std::string const& value) const;

    judge& rules_;
    std::map<std::tuple<std::size_t, std::string, std::string>, duration> left_;  // by server, slot and value: since when nobody needs it
};

}  // namespace redlock::simulation

#endif
