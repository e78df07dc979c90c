// Moments as logs write them: in RFC 3339, UTC, with microseconds.
#ifndef REDLOCK_OBSERVERS_RFC3339_HPP
#define REDLOCK_OBSERVERS_RFC3339_HPP

#include <redlock/event.hpp>

#include <chrono>
#include <cstdio>
#include <string>

namespace redlock::detail {

inline std::string rfc3339(event::time at)
{
    auto const day = std::chrono::floor<std::chrono::days>(at);
    std::chrono::year_month_day const date{day};
    std::chrono::hh_mm_ss const time{at - day};
    char text[64];
    std::snprintf(text, sizeof text, "%04d-%02u-%02uT%02d:%02d:%02d.%06dZ", static_cast<int>(date.year()),
                  static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), static_cast<int>(time.hours().count()),
                  static_cast<int>(time.minutes().count()), static_cast<int>(time.seconds().count()),
                  static_cast<int>(time.subseconds().count()));
    return text;
}

}  // namespace redlock::detail

#endif
