// What a server counts of each command: INFO commandstats.
#ifndef REDLOCK_BENCHMARKS_COMMAND_STATS_HPP
#define REDLOCK_BENCHMARKS_COMMAND_STATS_HPP

#include "support/redis_server.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <sstream>
#include <string>
#include <string_view>

namespace bench {

struct command_stat {
    std::uint64_t calls{0};
    double usec{0};  ///< In all; of a script, with the commands that it calls.
};

/// By the name of the command ("set", "client|caching"). What scripts call is counted under its own name, too.
using command_stats = std::map<std::string, command_stat>;

inline command_stats command_stats_of(redlock::testing::redis_server const& server)
{
    constexpr std::string_view prefix = "cmdstat_", calls = ":calls=", usec = ",usec=";
    command_stats all;
    std::istringstream lines{server.command({"INFO", "commandstats"}, std::chrono::minutes{1})};
    for (std::string line; std::getline(lines, line);) {
        auto const at = line.find(calls), then = line.find(usec);
        if (!line.starts_with(prefix) || at == std::string::npos || then == std::string::npos) continue;
        all[line.substr(prefix.size(), at - prefix.size())] = {std::stoull(line.substr(at + calls.size())),
                                                               std::stod(line.substr(then + usec.size()))};
    }
    return all;
}

}  // namespace bench

#endif
