// What a server counts of the commands that it executes.
#ifndef REDLOCK_TESTS_SUPPORT_COMMAND_STATS_HPP
#define REDLOCK_TESTS_SUPPORT_COMMAND_STATS_HPP

#include "redis_server.hpp"

#include <cstddef>
#include <string>

namespace redlock::testing {

/// How often a server has executed a command.
inline std::size_t calls_of(redis_server const& server, std::string const& command)
{
    auto const text = server.command({"INFO", "commandstats"});
    std::string const name = "cmdstat_" + command + ":calls=";
    auto const at = text.find(name);
    return at == std::string::npos ? 0 : std::stoul(text.substr(at + name.size()));
}

}  // namespace redlock::testing

#endif
