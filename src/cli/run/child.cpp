#include "cli/run/child.hpp"

#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <string_view>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::cli {

namespace {

constexpr int max_signals = 64;

bool is_pipe(int descriptor)
{
    struct stat s{};
    return ::fstat(descriptor, &s) == 0 && (S_ISFIFO(s.st_mode) || S_ISSOCK(s.st_mode));
}

std::vector<int> open_descriptors()
{
    std::vector<int> all;
    std::error_code problem;
    for (auto const& entry : std::filesystem::directory_iterator{"/proc/self/fd", problem}) {
        std::string const name = entry.path().filename();
        int number = -1;
        std::from_chars(name.data(), name.data() + name.size(), number);
        if (number >= 0) all.push_back(number);
    }
    // The list contains the descriptor that read the folder, which is closed by now.
    std::erase_if(all, [](int d) { return ::fcntl(d, F_GETFD) < 0; });
    if (all.empty()) all = {0, 1, 2};
    std::sort(all.begin(), all.end());
    return all;
}

std::vector<std::string> environment_with(child::environment const& more)
{
    std::vector<std::string> all;
    for (char** v = environ; *v != nullptr; ++v) {
        std::string_view const text{*v};
        auto const name = text.substr(0, text.find('='));
        bool const replaced = std::any_of(more.begin(), more.end(), [&](auto const& m) { return m.first == name; });
        if (!replaced) all.emplace_back(text);
    }
    for (auto const& [name, value] : more)
        if (!value.empty()) all.push_back(name + '=' + value);
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts)
{
    std::vector<char*> all;
    for (std::string& t : texts) all.push_back(t.data());
    all.push_back(nullptr);
    return all;
}

// The input of a command in the background of a script is /dev/null.
bool is_dev_null(int descriptor)
{
    struct stat s{};
    return ::fstat(descriptor, &s) == 0 && S_ISCHR(s.st_mode) && s.st_rdev == makedev(1, 3);
}

// In place of a command. Makes only system calls, as become().
[[noreturn]] void greet_and_await_end_of_input(std::string_view greeting)
{
    ::prctl(PR_SET_NAME, "redlock-hold");
    ::close_range(STDERR_FILENO + 1, ~0U, 0);
    if (::write(STDOUT_FILENO, greeting.data(), greeting.size()) < 0) ::_exit(to_int(exit_code::internal));
    while (is_dev_null(STDIN_FILENO)) ::pause();
    ::signal(SIGTTIN, SIG_IGN);
    char input[4'096];
    for (;;) {
        auto const n = ::read(STDIN_FILENO, input, sizeof input);
        if (n > 0 || (n < 0 && errno == EINTR)) continue;
        pid_t const has_it = n < 0 && errno == EIO ? ::tcgetpgrp(STDIN_FILENO) : -1;
        if (n == 0 || (errno != EAGAIN && (has_it <= 0 || has_it == ::getpgrp()))) ::_exit(to_int(exit_code::success));
        ::poll(nullptr, 0, 200);  // in the background of a terminal
    }
}

// Runs between fork and exec. Makes only system calls, since other threads may have held any mutex at the fork.
[[noreturn]] void become(char* const* argv, char* const* envp, inheritance const& from, pid_t parent, int report, int terminal,
                         std::function<void()> const& before_exec, int given, std::string_view greeting)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(to_int(exit_code::cannot_execute));  // the parent died before the line above
    ::setpgid(0, 0);
    if (terminal >= 0) {
        ::signal(SIGTTOU, SIG_IGN);
        ::tcsetpgrp(terminal, ::getpid());
    }
    before_exec();
    from.restore();
    if (given >= 0) {
        ::fcntl(given, F_SETFD, 0);
        ::prctl(PR_SET_PDEATHSIG, 0);  // the guardian, which knows of this process by now, can be told to let it live
    }
    if (argv[0] == nullptr) greet_and_await_end_of_input(greeting);
    ::execvpe(argv[0], argv, envp);
    int const why = errno;
    [[maybe_unused]] auto const told = ::write(report, &why, sizeof why);
    ::_exit(to_int(exit_code::cannot_execute));
}

}  // namespace

inheritance::inheritance() : descriptors_{open_descriptors()}
{
    sigemptyset(&ignored_);
    for (int s = 1; s <= max_signals; ++s) {
        struct sigaction now{};
        if (::sigaction(s, nullptr, &now) == 0 && now.sa_handler == SIG_IGN) sigaddset(&ignored_, s);
    }
    ::sigprocmask(SIG_SETMASK, nullptr, &blocked_);
}

void inheritance::restore() const noexcept
{
    for (int s = 1; s <= max_signals; ++s) {
        if (s == SIGKILL || s == SIGSTOP) continue;
        ::signal(s, ignores(s) && s != SIGCHLD ? SIG_IGN : SIG_DFL);
    }
    // Descriptors that this process opened itself, above all connections to the nodes, are closed by exec.
    unsigned next = 0;
    for (int const d : descriptors_) {
        auto const number = static_cast<unsigned>(d);
        if (number > next) ::close_range(next, number - 1, CLOSE_RANGE_CLOEXEC);
        next = number + 1;
    }
    ::close_range(next, ~0U, CLOSE_RANGE_CLOEXEC);
    ::sigprocmask(SIG_SETMASK, &blocked_, nullptr);
}

job_control::job_control()
    : terminal_{::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)},
      wanted_{terminal_ >= 0 && is_ours() && !is_pipe(STDOUT_FILENO) && !is_pipe(STDERR_FILENO)}
{
    // Without this, a background process that gives the terminal away or writes to it would be stopped.
    ::signal(SIGTTOU, SIG_IGN);
}

job_control::~job_control()
{
    if (terminal_ >= 0) ::close(terminal_);
}

bool job_control::give_to(pid_t group) noexcept
{
    if (terminal_ < 0) return false;
    pid_t const has_it = ::tcgetpgrp(terminal_);
    if (!given_ && has_it != ::getpgrp() && has_it != group) return false;
    given_ = ::tcsetpgrp(terminal_, group) == 0;
    return given_;
}

bool job_control::is_ours() const noexcept { return ::tcgetpgrp(STDIN_FILENO) == ::getpgrp(); }

void job_control::take_back() noexcept
{
    if (given_) ::tcsetpgrp(terminal_, ::getpgrp());
    given_ = false;
}

child::child(std::vector<std::string> const& command, environment const& more, inheritance const& from, job_control& terminal,
             std::function<void()> const& before_exec, int given, std::string const& greeting)
{
    auto copy = command;
    auto variables = environment_with(more);
    auto const argv = pointers(copy);
    auto const envp = pointers(variables);
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) throw failure{exit_code::internal, std::string{"the system gives no pipe: "} + std::strerror(errno)};

    // Block signals: between fork and exec the child has a copy of the parent's handlers, which would tell the parent of the child's signals.
    sigset_t all, before;
    sigfillset(&all);
    ::sigprocmask(SIG_SETMASK, &all, &before);
    pid_t const parent = ::getpid();
    bool const foreground = terminal.wanted_at_once();
    pid_ = ::fork();
    int const why_no_process = errno;
    if (pid_ == 0)
        become(argv.data(), envp.data(), from, parent, ends[1], foreground ? terminal.descriptor() : -1, before_exec, given, greeting);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::close(ends[1]);
    if (pid_ < 0) {
        ::close(ends[0]);
        throw failure{exit_code::internal, std::string{"the system gives no process: "} + std::strerror(why_no_process)};
    }
    ::setpgid(pid_, pid_);  // parent and child both do this: neither knows which one is first
    if (foreground) terminal.give_to(pid_);

    int why = 0;
    ssize_t n = 0;
    do {
        n = ::read(ends[0], &why, sizeof why);  // exec closes the other end
    } while (n < 0 && errno == EINTR);
    ::close(ends[0]);
    if (n != sizeof why) return;
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
    terminal.take_back();
    if (why != ENOENT) throw failure{exit_code::cannot_execute, name_in_words(command.front()) + ": " + std::strerror(why)};
    // The system says the same where the file is there, and what it names in its first line is not.
    bool const is_there = command.front().find('/') != std::string::npos && ::access(command.front().c_str(), F_OK) == 0;
    if (is_there) throw failure{exit_code::cannot_execute, name_in_words(command.front()) + ": cannot execute: its interpreter is missing"};
    throw failure{exit_code::not_found, name_in_words(command.front()) + ": command not found"};
}

}  // namespace redlock::cli
