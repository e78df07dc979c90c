// Durations as text for people: `20 ms`, `3.5 s`, `40 s`.
#ifndef REDLOCK_QUORUM_IN_SECONDS_HPP
#define REDLOCK_QUORUM_IN_SECONDS_HPP

#include "quorum/timing.hpp"

#include <chrono>
#include <string>

namespace redlock::detail {

// Rounded up, so that the text never says that no time is left while some is.
inline std::string in_seconds(quorum::duration d)
{
    auto const ms = std::chrono::ceil<std::chrono::milliseconds>(d).count();
    if (ms < 1'000) return std::to_string(ms) + " ms";
    auto const tenths = (ms + 99) / 100;
    return tenths < 100 ? std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " s"
                        : std::to_string((ms + 999) / 1'000) + " s";
}

}  // namespace redlock::detail

#endif
