// What a new token should at least be: the wall clock, in microseconds. Nodes whose counters for a name differ (one was away, or the
// counter has expired) then still grant the same token, and no confirmation is needed. Only speed depends on it.
#ifndef REDLOCK_QUORUM_CLOCKS_TOKEN_CLOCK_HPP
#define REDLOCK_QUORUM_CLOCKS_TOKEN_CLOCK_HPP

#include "quorum/token_number.hpp"

#include <cstdint>
#include <functional>

namespace redlock::detail {

class token_clock {
public:
    using number = quorum::token_number;

    std::function<number()> wall_clock;

    number next()
    {
        given_ = wall_clock() + ahead_;
        return given_;
    }

    // A node told its counter. If the counter is above this client's clock, the clock of another client is fast, and this one follows it. It follows
    // for half a day at most, since nodes ignore lower bounds that are more than a day ahead of their clocks.
    void saw(number counter)
    {
        if (counter <= given_) return;  // as nearly always: no need to look at the clock
        constexpr number half_a_day = number{12} * 3'600 * 1'000'000;
        number const now = wall_clock();
        if (counter > now + ahead_ && counter - now < half_a_day) ahead_ = counter - now;
    }

private:
    number ahead_{0};
    number given_{0};  // the last lower bound
};

}  // namespace redlock::detail

#endif
