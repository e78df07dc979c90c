// Error texts for durations out of bounds, as options.cpp and config.cpp throw them: `lock_options::ttl is 5 ms; it must be between 10 ms
// and 30 days`.
#ifndef REDLOCK_API_BOUNDS_HPP
#define REDLOCK_API_BOUNDS_HPP

#include <chrono>
#include <string>

namespace redlock::bounds {

using std::chrono::milliseconds;

inline constexpr milliseconds one_day = std::chrono::days{1};

// A year is more than anybody waits for, and far from where nanoseconds overflow.
inline constexpr milliseconds one_year = std::chrono::days{365};

// The duration in the largest unit that divides it: `5 ms`, `2 days`.
inline std::string to_text(milliseconds d)
{
    struct unit {
        milliseconds length;
        char const* name;
    };
    constexpr unit units[] = {{one_day, " days"}, {std::chrono::minutes{1}, " min"}, {std::chrono::seconds{1}, " s"}};
    if (d == one_day) return "1 day";
    for (unit const& u : units)
        if (d != milliseconds{0} && d % u.length == milliseconds{0}) return std::to_string(d / u.length) + u.name;
    return std::to_string(d.count()) + " ms";
}

template <class Error>
[[noreturn]] void refuse(std::string const& place, std::string const& found, std::string const& expected)
{
    throw Error{place + " is " + found + "; it must be " + expected};
}

template <class Error>
void require_between(std::string const& place, milliseconds value, milliseconds min, milliseconds max)
{
    if (value < min || value > max) refuse<Error>(place, to_text(value), "between " + to_text(min) + " and " + to_text(max));
}

}  // namespace redlock::bounds

#endif
