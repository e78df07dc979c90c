// A program that runs as our child, can be killed, stopped and resumed, and never outlives us.
#ifndef REDLOCK_TESTS_SUPPORT_CHILD_PROCESS_HPP
#define REDLOCK_TESTS_SUPPORT_CHILD_PROCESS_HPP

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <sys/types.h>

namespace redlock::testing {

/// Where a program is: a name with a slash as it stands, otherwise looked up in PATH. Throws `std::runtime_error`, which
/// names it, if there is none.
std::filesystem::path find_program(std::string const& name);

/// Runs a program, in a process group of its own, so that a Ctrl-C in the terminal is left to us to act upon.
///
/// The kernel kills the child when the *thread* that started it ends, so start it on one that lives long enough, as a rule
/// the main one. A copy of the object in a forked child does nothing.
///
/// Thread safety: none.
class child_process {
public:
    /// Starts `program` with `arguments`; output and errors are appended to `log`. The child inherits no descriptors: Asio's
    /// sockets are not close-on-exec, and a server that holds a copy of a client's connection keeps it open. Throws
    /// `std::system_error`.
    child_process(std::filesystem::path const& program, std::vector<std::string> const& arguments, std::filesystem::path const& log);

    /// The same, but `talk` is its input and its output: one end of a socket pair. It stays the caller's to close.
    child_process(std::filesystem::path const& program, std::vector<std::string> const& arguments, std::filesystem::path const& log,
                  int talk);
    child_process(child_process const&) = delete;
    child_process& operator=(child_process const&) = delete;

    /// `kill()`.
    ~child_process();

    /// -1 after its end.
    pid_t pid() const noexcept { return pid_; }

    /// Whether it has not ended. Stopped processes run in this sense.
    bool running() noexcept;

    /// How it ended: its exit code, or 128 and the number of the signal that ended it. None while it runs.
    std::optional<int> exit_code() const noexcept { return exit_code_; }

    /// Waits so long for the end.
    std::optional<int> wait(std::chrono::milliseconds patience) noexcept;

    /// SIGKILL, and waits for the end. Nothing happens when it has ended already.
    void kill() noexcept;

    /// Sends `signal`, and waits for the end for so long; then `kill()`.
    void end(int signal, std::chrono::milliseconds patience) noexcept;

    /// SIGSTOP, and waits until it took effect; nothing when stopped already. Throws `std::runtime_error` when the process
    /// has ended.
    void stop();

    /// SIGCONT, and waits until it took effect; nothing unless stopped. Throws `std::runtime_error` when the process has ended.
    void resume();

private:
    void send_and_wait(int signal, int options);
    void ended(int status) noexcept;

    pid_t pid_;
    pid_t owner_;
    std::optional<int> exit_code_;
    bool stopped_{false};
};

}  // namespace redlock::testing

#endif
