// What the judge knows of a lease that somebody holds.
#ifndef REDLOCK_TESTS_SIMULATION_LEASE_FACTS_HPP
#define REDLOCK_TESTS_SIMULATION_LEASE_FACTS_HPP

#include "clocks.hpp"
#include "testing/redis_model.hpp"

#include <redlock/lease.hpp>
#include <redlock/options.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace redlock::simulation {

using testing::token_number;

struct lease_facts {
    std::size_t process;
    lease* held;
    lock_options options;  // of a nested lease: those of the hold that it is in
    std::string name;  // all names, as one text (lock_names)
    std::vector<std::string> names;
    std::string lineage{};  // of an adopted lease: who acquired it
    std::string value{};    // the attempt's that completed with its token; else what most servers have stored for it
    bool is_sure{true};     // of its value: several readers of one client may have got one token at the same time
    bool reads{false};
    duration since{};
    token_number token{0};  // the one that it writes with
    token_number first{0};  // of its block
    token_number last{0};
    time_point seen_until{};
    bool nested{false};  // an owner got it while it had another of the same hold
    bool left{false};    // it was given back
    std::uint32_t permits{0};  // of a semaphore, whose user says that there are so many permits; 0: of no semaphore
    std::size_t record{0};

    // Servers that have forgotten it cannot tell its value.
    std::string called() const { return value.empty() ? "p" + std::to_string(process) + "-?" : value; }
    std::string acquired_by() const { return lineage.empty() ? called() : lineage; }
    bool has_tokens() const noexcept { return options.fencing; }
    std::string known_value() const { return has_tokens() ? value : std::string{}; }  // and not guessed
    bool is_of(std::string const& one) const { return std::find(names.begin(), names.end(), one) != names.end(); }
};

}  // namespace redlock::simulation

#endif
