// The processes that a command started, wherever they went: those that left its process group (setsid, daemons) are no longer reached by
// signals to the group. Whoever looks must be a subreaper, so that orphans stay below it.
#ifndef REDLOCK_CLI_OFFSPRING_HPP
#define REDLOCK_CLI_OFFSPRING_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace redlock::cli {

struct process {
    pid_t pid{0};
    pid_t group{0};
    std::uint64_t started{0};  // in ticks since the machine started: tells it from a later one with its number
    std::string name;
};

class offspring {
public:
    // Below `root`. What is there already is not the command's, and whatever comes from it, as far as that can be seen.
    explicit offspring(pid_t root);

    // Those that have left `group`, and have not ended; without `minder`, which is no part of the command.
    std::vector<process> outside(pid_t group, pid_t minder) const;

private:
    pid_t root_;
    std::vector<process> earlier_;
};

// Below `pid`, as far as it can be seen; without those in `except` and what is below them.
std::vector<process> descendants_of(pid_t pid, std::vector<process> const& except);

bool is_running(pid_t pid, std::uint64_t started) noexcept;

// Kills it, unless it has ended, and another one has its number.
void kill_process(pid_t pid, std::uint64_t started, int signal) noexcept;

// `4711 sleep, 4712 gpg-agent`; many are cut short.
std::string in_words(std::vector<process> const& all);

}  // namespace redlock::cli

#endif
