// What one node said to the doctor. No I/O.
#ifndef REDLOCK_CLI_FACTS_HPP
#define REDLOCK_CLI_FACTS_HPP

#include <redlock/error.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

// A look at a server's clock.
struct clock_sample {
    std::chrono::nanoseconds round_trip{};
    std::chrono::nanoseconds ahead{};  // of this machine's wall clock, if the way there and the way back took the same
};

// A command that the library needs and that was refused.
struct refusal {
    std::string command;
    std::string words;     // the server's
    std::string costs;     // what does not work without it
    bool needed_by_all{true};
};

// What one node said.
struct doctor_probe {
    std::string node;
    error_code why;
    std::string problem;  // why it could not be asked; empty: it answered
    std::string info;     // INFO; empty where its rules forbid it
    std::string info_refused;         // what it said instead
    std::string append_fsync;         // empty: unknown
    std::optional<std::string> save;  // none: unknown
    std::string user;                 // empty: unknown
    std::string record;               // of its admission; empty: none
    bool has_high_water{false};
    std::optional<std::vector<std::string>>
        watched_from;  // where clients are that look at it every second; none: its rules forbid to see that
    std::optional<std::chrono::nanoseconds> waited_here;   // since when processes of this machine wait for what it lost
    std::vector<clock_sample> clock;
    std::vector<refusal> refused;

    std::string_view field(std::string_view name) const;
    std::string_view mark() const;                      // of the loss that somebody waits for, in its record; empty: none
    std::uint64_t number(std::string_view name) const;  // 0 without it
    std::chrono::nanoseconds round_trip() const;        // the shortest
    std::optional<clock_sample> best_clock() const;     // of the shortest round trip
    std::string persistence() const;                    // in a word or two
};

}  // namespace redlock::cli

#endif
