// What must hold of the keys on the servers: none stays that nobody will remove.
#ifndef REDLOCK_TESTS_SIMULATION_KEY_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_KEY_JUDGE_HPP

#include "lease_facts.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace redlock::simulation {

class judge;

class key_judge {
public:
    explicit key_judge(judge& rules) : rules_{rules} {}

    // On how many servers the name has this value; of several names, each.
    std::size_t stored(std::string const& name, std::string const& value) const;

    // Which value of the lease's process most servers have for its first name.
    std::string most_stored(lease_facts const& w) const;

    // Keys of these values may stay until they expire: nobody was left to remove them.
    void excuse(std::string const& value_prefix) { excused_.push_back(value_prefix); }

    // Where a key stays whose owner has gone: one that nobody was excused for, which will expire.
    std::optional<std::string> without_an_owner() const;

private:
    judge& rules_;
    std::vector<std::string> excused_;
};

}  // namespace redlock::simulation

#endif
