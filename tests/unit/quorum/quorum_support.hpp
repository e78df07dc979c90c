// What the tests of src/quorum share: a moment to start from, and names for outcomes in failure messages.
#ifndef REDLOCK_TESTS_UNIT_QUORUM_SUPPORT_HPP
#define REDLOCK_TESTS_UNIT_QUORUM_SUPPORT_HPP

#include "quorum/acquire_machine.hpp"
#include "quorum/lease_machine.hpp"
#include "quorum/release_machine.hpp"

#include <chrono>
#include <cstddef>
#include <initializer_list>
#include <ostream>
#include <vector>

namespace redlock::quorum {

using namespace std::chrono_literals;

// Some uptime, so that the epoch ("never") is in the past.
inline constexpr time_point start{std::chrono::hours{5}};

inline constexpr vote granted = vote::granted;
inline constexpr vote refused = vote::refused;
inline constexpr vote failed = vote::failed;

// ttl 10 s, no drift: a grant is good for 9,998 ms, the lease is given up 1 s before that.
inline lock_options ten_seconds()
{
    lock_options options;
    options.ttl = 10s;
    options.clock_drift = 0.0;
    options.node_timeout = 100ms;
    options.extend_interval = 3s;
    options.stop_margin = 1s;
    return options;
}
inline constexpr duration ten_seconds_validity = 9'998ms;

// `count` nodes can vote in 3^count ways; each of those in turn, as digits.
template <class Visit>
void for_each_ballot(std::size_t count, std::vector<vote> const& choices, Visit visit)
{
    std::vector<std::size_t> digits(count, 0);
    std::vector<vote> votes(count, choices.front());
    for (bool more = true; more;) {
        visit(votes);
        more = false;
        for (std::size_t i = 0; i < count && !more; ++i) {
            digits[i] = (digits[i] + 1) % choices.size();
            votes[i] = choices[digits[i]];
            more = digits[i] != 0;
        }
    }
}

template <class Enum>
std::ostream& print_named(std::ostream& out, Enum value, std::initializer_list<char const*> names)
{
    return out << *(names.begin() + static_cast<int>(value));
}

inline std::ostream& boost_test_print_type(std::ostream& out, acquire_outcome o)
{
    return print_named(out, o, {"pending", "granted", "contended", "no_majority", "validity_exhausted"});
}
inline std::ostream& boost_test_print_type(std::ostream& out, extend_outcome o)
{
    return print_named(out, o, {"pending", "renewed", "held", "unknown", "lost"});
}
inline std::ostream& boost_test_print_type(std::ostream& out, release_outcome o)
{
    return print_named(out, o, {"pending", "released", "lost", "no_majority"});
}
inline std::ostream& boost_test_print_type(std::ostream& out, lease_duty d)
{
    return print_named(out, d, {"none", "extend", "recreate", "stop", "stop_max_hold"});
}

// A moment or a duration that prints itself; both sides of a comparison need it, so that Boost.Test can show them.
struct ns {
    explicit ns(time_point t) : count{(t - start).count()} {}
    explicit ns(duration d) : count{d.count()} {}
    friend bool operator==(ns, ns) = default;
    friend auto operator<=>(ns, ns) = default;
    friend std::ostream& operator<<(std::ostream& out, ns t) { return out << t.count << " ns"; }

    duration::rep count;
};

}  // namespace redlock::quorum

#endif
