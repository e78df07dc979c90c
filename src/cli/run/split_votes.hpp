// Of clients that ask at the same moment, each may get the votes of some nodes, and none of them a majority: the votes are split, and nobody holds
// the lock. A command that does not wait would end as if somebody did, and the work of that night would be done by nobody. So it asks again, after
// a random time. Source: "Distributed Locks with Redis", section "Retry on failure", redis.io.
#ifndef REDLOCK_CLI_RUN_SPLIT_VOTES_HPP
#define REDLOCK_CLI_RUN_SPLIT_VOTES_HPP

#include "quorum/waiting/backoff.hpp"

#include <redlock/attempt_report.hpp>

#include <optional>
#include <random>

namespace redlock::cli {

// The attempt may have ended so. It also does when another client won the votes of a majority, and this one the rest.
bool may_be_split(attempt_report const& attempt);

class split_votes {
public:
    // Before the next attempt; none: there were enough.
    template <class Random>
    std::optional<quorum::duration> next_pause(Random& random)
    {
        if (repetitions_ == max_repetitions) return std::nullopt;
        ++repetitions_;
        return pauses_.next(random);
    }

private:
    static constexpr int max_repetitions = 4;

    int repetitions_{0};
    // From a round trip in a data centre to one between continents.
    quorum::backoff pauses_{std::chrono::milliseconds{5}, std::chrono::milliseconds{200}};
};

}  // namespace redlock::cli

#endif
