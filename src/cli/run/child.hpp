// The process that runs the user's command, in a process group of its own.
#ifndef REDLOCK_CLI_RUN_CHILD_HPP
#define REDLOCK_CLI_RUN_CHILD_HPP

#include <csignal>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace redlock::cli {

// The state that this process was started with, and that the command should start with as well: open descriptors, ignored and blocked signals.
// Must be made before this process opens anything.
class inheritance {
public:
    inheritance();

    bool ignores(int signal) const noexcept { return sigismember(&ignored_, signal) == 1; }

    // In a child, before exec.
    void restore() const noexcept;

private:
    std::vector<int> descriptors_;  // sorted
    sigset_t ignored_;
    sigset_t blocked_;
};

// Decides whether the terminal's signals and input go to the redlock process or to the command. The terminal is the controlling one, wherever stdin comes
// from: commands ask for passwords there (getpass, ssh, sudo, gpg). Does nothing if there is none.
class job_control {
public:
    job_control();
    job_control(job_control const&) = delete;
    job_control& operator=(job_control const&) = delete;
    ~job_control();

    // Whether the command should have the terminal from the start. Not in a pipeline, whose other commands may need it, too, and not where stdin is
    // something else: then it may be one of many commands that a script runs in the background.
    bool wanted_at_once() const noexcept { return wanted_; }

    // Of the terminal; -1: there is none.
    int descriptor() const noexcept { return terminal_; }

    // Makes `group` the terminal's foreground group, which gets its signals and may read from it. False if the redlock process does not have it.
    bool give_to(pid_t group) noexcept;
    void take_back() noexcept;
    bool given() const noexcept { return given_; }

    // Whether stdin is a terminal and the redlock process is in its foreground group.
    bool is_ours() const noexcept;

private:
    int terminal_;
    bool wanted_;
    bool given_{false};
};

class child {
public:
    using environment = std::vector<std::pair<std::string, std::string>>;  // added to this process's own

    // Starts `command`, found in PATH. The kernel kills the command when this thread ends. Throws `failure` with `not_found` or `cannot_execute`, as
    // shells do, and `internal` when the system has no process left. `before_exec` runs in the new process, which leads its group already, and may only
    // make system calls. `given`: a descriptor of this process that the command gets, too, to take over what this process does for it; then the
    // command outlives this thread, unless the guardian ends it. -1: none. In place of an empty command stands a process that writes `greeting`
    // to stdout, and ends with its input; where that is /dev/null, only a signal ends it.
    child(std::vector<std::string> const& command, environment const& more, inheritance const& from, job_control& terminal,
          std::function<void()> const& before_exec, int given = -1, std::string const& greeting = {});

    // The id of the command's process, and of its process group.
    pid_t pid() const noexcept { return pid_; }

    // Sends a signal to all processes of the group. False: there are none left.
    bool signal(int number) const noexcept { return ::kill(-pid_, number) == 0; }

private:
    pid_t pid_;
};

}  // namespace redlock::cli

#endif
