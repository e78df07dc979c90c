// Finds the processes that a command started. Signals to the command's process group do not reach processes that left the group (setsid, daemons);
// session and guardian find those here. The process that looks must be a subreaper, so that orphans stay among its descendants.
#ifndef REDLOCK_CLI_RUN_OFFSPRING_HPP
#define REDLOCK_CLI_RUN_OFFSPRING_HPP

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace redlock::cli {

struct process {
    pid_t pid{0};
    pid_t group{0};
    std::uint64_t started{0};  // in ticks since the machine started: distinguishes this process from a later one with the same pid
    std::string name;
};

class offspring {
public:
    // Looks among the descendants of `root`. Descendants that exist already, and those that they start, do not count as the command's.
    explicit offspring(pid_t root);

    // The running processes that are not in `group`, without the guardian, which would kill them.
    std::vector<process> outside(pid_t group, pid_t guardian_pid) const;

private:
    pid_t root_;
    std::vector<process> earlier_;
};

// The running descendants of `pid`, as far as /proc shows them, without the processes in `except` and their descendants.
std::vector<process> descendants_of(pid_t pid, std::vector<process> const& except);

bool is_running(pid_t pid, std::uint64_t started) noexcept;

// Sends `signal`, unless the process has ended. A later process with the same pid gets nothing.
void kill_process(pid_t pid, std::uint64_t started, int signal) noexcept;

// `4711 sleep, 4712 gpg-agent`; a long list ends with `and 7 more`.
std::string in_words(std::vector<process> const& all);

}  // namespace redlock::cli

#endif
