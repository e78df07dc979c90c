// The process that runs the user's command, in a process group of its own.
#ifndef REDLOCK_CLI_CHILD_HPP
#define REDLOCK_CLI_CHILD_HPP

#include <csignal>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace redlock::cli {

// What this process was started with, and a command that it starts should find as well: descriptors that are open and signals that are
// ignored. Made before anything else is opened.
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

// The terminal that we were started from, if it is the command's input.
class job_control {
public:
    job_control();

    // Whether the command should have it from the start: not in a pipeline, whose other commands may need it, too.
    bool wanted_at_once() const noexcept { return wanted_; }

    // Makes `group` the one that the terminal's signals go to and that may read from it, if it is ours to give.
    bool give_to(pid_t group) noexcept;
    void take_back() noexcept;
    bool given() const noexcept { return given_; }

    // Whether it is our input, and its signals come to us.
    bool is_ours() const noexcept;

private:
    bool terminal_;
    bool wanted_;
    bool given_{false};
};

class child {
public:
    using environment = std::vector<std::pair<std::string, std::string>>;  // in addition to ours

    // Starts `command`, found in PATH. The kernel kills it when this thread ends. Throws failure with `not_found` or `cannot_execute`, as
    // shells do, and `internal` when there is no process left.
    child(std::vector<std::string> const& command, environment const& more, inheritance const& from, job_control& terminal);

    // Also of its process group.
    pid_t pid() const noexcept { return pid_; }

    // To all of its group. False: nobody is left.
    bool signal(int number) const noexcept { return ::kill(-pid_, number) == 0; }

private:
    pid_t pid_;
};

}  // namespace redlock::cli

#endif
