// What must hold of the state that goes with a lock: who inherits what, and what servers keep.
#ifndef REDLOCK_TESTS_SIMULATION_STATE_JUDGE_HPP
#define REDLOCK_TESTS_SIMULATION_STATE_JUDGE_HPP

#include "judge.hpp"
#include "universe.hpp"

#include <redlock/published.hpp>

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace redlock::simulation {

class state_judge {
public:
    state_judge(universe& in, judge& rules);

    // Of one name. The larger token is the later holder's; of one holder, what he published later has the larger number.
    struct version {
        token_number token{0};
        std::uint64_t number{0};

        friend auto operator<=>(version const&, version const&) = default;
    };

    // A version to be published by that token, and the bytes that say which it is.
    version next(token_number token) { return {token, ++numbers_}; }
    static std::string bytes_of(version const& v);

    // It was published, begun at that time.
    void published(std::string const& name, version const& what, duration since);

    // The holder with that token asked at `since`, and was told this.
    void inherited(std::string const& name, token_number holder, published_state const& what, duration since);

    // Servers keep a state for so long at the least.
    duration kept_for{};

    // After every step: no server replaces what it keeps by something older, unless it lost it. The same names each time.
    void check(std::vector<std::string> const& names);

private:
    void executed(std::size_t server, detail::command const& c);

    struct fact {
        version what;
        token_number holder;  // who published or inherited it
        duration since;
        duration at;
    };

    // What was published or inherited so lately that servers must still keep it.
    bool still_counts(fact const& f, duration asked) const;
    bool may_be_lost() const noexcept;

    universe& universe_;
    judge& rules_;
    std::uint64_t numbers_{0};
    std::map<std::string, std::vector<fact>> published_;  // by name
    std::map<std::string, std::vector<fact>> inherited_;

    // What a server keeps of a name. `text` is all of it, so that it is read only where it has changed.
    struct kept_state {
        std::string key;
        std::string text{};
        std::pair<token_number, std::uint64_t> stamp{};  // rank and number
    };
    std::vector<kept_state> kept_;  // of the first server all names, then of the next one
    std::map<std::pair<std::size_t, std::string>, token_number>
        asked_;  // the largest guard under which somebody has inherited, by server and name
};

}  // namespace redlock::simulation

#endif
