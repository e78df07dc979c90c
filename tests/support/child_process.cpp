#include "child_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::testing {
namespace {

namespace fs = std::filesystem;

constexpr int exit_code_not_started = 127;

// Between fork and exec only async-signal-safe calls are allowed: other threads may have held any mutex, malloc's included.
[[noreturn]] void become(char const* path, char* const* argv, int log, int input, int output, pid_t parent)
{
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(exit_code_not_started);  // it died before the line above
    ::setpgid(0, 0);

    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);

    ::dup2(input, STDIN_FILENO);
    ::dup2(output, STDOUT_FILENO);
    ::dup2(log, STDERR_FILENO);
    if (::close_range(3, ~0U, CLOSE_RANGE_CLOEXEC) != 0) {
        for (int fd = 3; fd < 1024; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);  // a kernel before 5.11
    }
    ::execv(path, argv);
    constexpr std::string_view message = "this program could not be executed\n";
    [[maybe_unused]] auto const written = ::write(STDERR_FILENO, message.data(), message.size());
    ::_exit(exit_code_not_started);
}

int open_or_throw(char const* path, int flags)
{
    int const fd = ::open(path, flags | O_CLOEXEC, 0600);
    if (fd < 0) throw std::system_error{errno, std::generic_category(), std::string{"cannot open "} + path};
    return fd;
}

}  // namespace

fs::path find_program(std::string const& name)
{
    auto const executable = [](fs::path const& path) {
        std::error_code unreadable;  // a folder of somebody else's in PATH
        return fs::is_regular_file(path, unreadable) && ::access(path.c_str(), X_OK) == 0;
    };
    if (name.find('/') != std::string::npos) {
        if (executable(name)) return name;
        throw std::runtime_error{name + " is not a program"};
    }
    char const* const variable = std::getenv("PATH");
    std::istringstream folders{variable != nullptr ? variable : "/usr/bin:/bin"};
    for (std::string folder; std::getline(folders, folder, ':');) {
        auto const path = fs::path{folder.empty() ? "." : folder} / name;
        if (executable(path)) return path;
    }
    throw std::runtime_error{name + " is not installed: no folder in PATH holds it"};
}

child_process::child_process(fs::path const& program, std::vector<std::string> const& arguments, fs::path const& log)
    : child_process{program, arguments, log, -1}
{
}

child_process::child_process(fs::path const& program, std::vector<std::string> const& arguments, fs::path const& log, int talk)
    : pid_{-1}, owner_{::getpid()}
{
    std::string path = program.string();
    std::vector<std::string> words = arguments;
    std::vector<char*> argv{path.data()};
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);

    int const written = open_or_throw(log.c_str(), O_WRONLY | O_CREAT | O_APPEND);
    int const nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
    pid_ = ::fork();
    if (pid_ == 0) become(path.c_str(), argv.data(), written, talk < 0 ? nothing : talk, talk < 0 ? written : talk, owner_);
    int const error = errno;
    ::close(written);
    ::close(nothing);
    if (pid_ < 0) throw std::system_error{error, std::generic_category(), "fork"};
}

child_process::~child_process()
{
    if (::getpid() == owner_) kill();
}

bool child_process::running() noexcept
{
    int status = 0;
    if (pid_ > 0 && ::waitpid(pid_, &status, WNOHANG) == pid_) ended(status);
    return pid_ > 0;
}

void child_process::ended(int status) noexcept
{
    pid_ = -1;
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void child_process::kill() noexcept
{
    if (!running()) return;
    ::kill(pid_, SIGKILL);  // ends stopped processes too
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {}
    ended(status);
}

std::optional<int> child_process::wait(std::chrono::milliseconds patience) noexcept
{
    constexpr int pause_ms = 2;
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (running() && std::chrono::steady_clock::now() < deadline) ::poll(nullptr, 0, pause_ms);
    return exit_code_;
}

void child_process::end(int signal, std::chrono::milliseconds patience) noexcept
{
    if (!running()) return;
    ::kill(pid_, signal);
    wait(patience);
    kill();
}

// The kernel reports changes only: waiting for the second of two stops would last for ever.
void child_process::stop()
{
    if (running() && stopped_) return;
    send_and_wait(SIGSTOP, WUNTRACED);
    stopped_ = true;
}

void child_process::resume()
{
    if (running() && !stopped_) return;
    send_and_wait(SIGCONT, WCONTINUED);
    stopped_ = false;
}

void child_process::send_and_wait(int signal, int options)
{
    if (!running()) throw std::runtime_error{"the process has ended"};
    ::kill(pid_, signal);
    int status = 0;
    while (::waitpid(pid_, &status, options) < 0 && errno == EINTR) {}
    if (WIFSTOPPED(status) || WIFCONTINUED(status)) return;
    ended(status);
    throw std::runtime_error{"the process has ended"};
}

}  // namespace redlock::testing
