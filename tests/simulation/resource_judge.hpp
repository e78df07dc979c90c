// What locks protect: it compares tokens, as a fenced resource does, and refuses those that are too small.
#ifndef REDLOCK_TESTS_SIMULATION_RESOURCE_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_RESOURCE_JUDGE_HPP

#include "lease_facts.hpp"

#include <redlock/fence_guard.hpp>

#include <map>
#include <string>

namespace redlock::simulation {

class judge;

class resource_judge {
public:
    explicit resource_judge(judge& rules) : rules_{rules} {}

    // The holder writes, or reads, with its token; perhaps long after the lease has ended.
    void access(lease_facts const& w);

private:
    // It keeps the largest token of a writer and that of a reader.
    struct resource {
        token_number token{0};
        std::string writer;
        token_number readers{0};
        redlock::fence guard{};  // the library's own, which must say the same
    };

    judge& rules_;
    std::map<std::string, resource> resources_;  // by name
};

}  // namespace redlock::simulation

#endif
