// Which commands reach a server.
#ifndef REDLOCK_BENCHMARKS_COMMAND_COUNTER_HPP
#define REDLOCK_BENCHMARKS_COMMAND_COUNTER_HPP

#include "support/redis_server.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <thread>

namespace bench {

/// The commands that reach a server from its clients, by name ("client|caching"), from its MONITOR stream.
///
/// INFO commandstats cannot tell them: it counts a script's own calls like commands of a client (so does total_commands_processed),
/// and names such as SET and INFO are used by both. MONITOR marks those calls "lua".
class command_counter {
public:
    explicit command_counter(redlock::testing::redis_server const& server);
    ~command_counter();

    /// Until now.
    std::map<std::string, std::uint64_t> stop();

private:
    redlock::testing::redis_server const& server_;
    std::map<std::string, std::uint64_t> seen_;
    std::jthread thread_;
};

std::uint64_t sum(std::map<std::string, std::uint64_t> const& commands);

}  // namespace bench

#endif
