#include "program.hpp"

#include <boost/test/unit_test.hpp>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace redlock::testing {

namespace {

using namespace std::chrono_literals;
using steady = std::chrono::steady_clock;

void check(long result, char const* what)
{
    if (result < 0) throw std::system_error{errno, std::generic_category(), what};
}

// Ours without what is meant for the command, and with what the test says. Of a variable that is there twice, the first counts.
std::vector<std::string> environment_with(program_options const& options, std::filesystem::path const& state)
{
    std::vector<std::string> all;
    for (auto const& [name, value] : options.environment) all.push_back(name + '=' + value);
    all.push_back("REDLOCK_STATE_DIR=" + state.string());
    for (char** v = environ; *v != nullptr; ++v)
        if (!std::string_view{*v}.starts_with("REDLOCK_")) all.emplace_back(*v);
    return all;
}

std::vector<char*> pointers(std::vector<std::string>& texts)
{
    std::vector<char*> all;
    for (std::string& t : texts) all.push_back(t.data());
    all.push_back(nullptr);
    return all;
}

void pause(std::chrono::milliseconds time) { ::poll(nullptr, 0, static_cast<int>(time.count())); }

}  // namespace

std::string command_under_test()
{
    char const* const other = std::getenv("REDLOCK_PROGRAM");
    return other ? other : REDLOCK_PROGRAM;
}

program::program(arguments const& args, program_options const& options)
{
    std::vector<std::string> words{command_under_test()};
    words.insert(words.end(), args.begin(), args.end());
    auto variables = environment_with(options, folder_.path() / "state");
    auto const argv = pointers(words);
    auto const envp = pointers(variables);
    options.terminal ? start_on_terminal(argv, envp, options.columns) : start(argv, envp, options);
}

void program::start_on_terminal(std::vector<char*> const& argv, std::vector<char*> const& envp, int columns)
{
    winsize const size{24, static_cast<unsigned short>(columns), 0, 0};
    pid_ = ::forkpty(&terminal_, nullptr, nullptr, &size);
    check(pid_, "forkpty");
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::execve(argv[0], argv.data(), envp.data());
        ::_exit(99);
    }
    ::fcntl(terminal_, F_SETFL, O_NONBLOCK);
    ::fcntl(terminal_, F_SETFD, FD_CLOEXEC);
}

void program::start(std::vector<char*> const& argv, std::vector<char*> const& envp, program_options const& options)
{
    int ends[2];
    check(::pipe2(ends, O_CLOEXEC), "pipe2");
    int const out = ::open((folder_.path() / "out").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int const err = ::open((folder_.path() / "err").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    check(out, "out");
    check(err, "err");
    pid_ = ::fork();
    check(pid_, "fork");
    if (pid_ == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        ::dup2(ends[0], 0);
        ::dup2(out, 1);
        ::dup2(err, 2);
        if (options.ignore_hangup) ::signal(SIGHUP, SIG_IGN);
        if (options.errors >= 0) ::dup2(options.errors, 2);
        if (options.output >= 0) ::dup2(options.output, 1);
        if (options.closed_output) ::close(1);
        if (options.unread_output) {
            int broken[2];
            if (::pipe(broken) != 0 || ::dup2(broken[1], 1) != 1) ::_exit(99);
            ::close(broken[0]);
            ::close(broken[1]);
        }
        ::execve(argv[0], argv.data(), envp.data());
        ::_exit(99);
    }
    for (int const fd : {ends[0], out, err}) ::close(fd);
    [[maybe_unused]] auto const n = ::write(ends[1], options.input.data(), options.input.size());  // fits into a pipe
    ::close(ends[1]);
}

full_pipe::full_pipe()
{
    check(::pipe2(ends_, O_CLOEXEC | O_NONBLOCK), "pipe2");
    std::string const full(4'096, 'x');
    while (::write(ends_[1], full.data(), full.size()) > 0) {}
    ::fcntl(ends_[1], F_SETFL, 0);
}

full_pipe::~full_pipe()
{
    for (int const fd : ends_) ::close(fd);
}

program::~program()
{
    if (!code_) {
        ::kill(pid_, SIGKILL);
        while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {}
    }
    if (terminal_ >= 0) ::close(terminal_);
}

void program::send(int signal) const
{
    if (!code_) check(::kill(pid_, signal), "kill");
}

bool program::running()
{
    int status = 0;
    if (code_) return false;
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return true;
    code_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return false;
}

int program::wait(std::chrono::milliseconds patience)
{
    auto const end = steady::now() + patience;
    while (running() && steady::now() < end) {
        pause(2ms);
        output();  // a terminal that nobody reads fills up
    }
    if (!code_) {
        BOOST_ERROR("the program had not ended after " << patience.count() << " ms: " << output() << errors());
        ::kill(pid_, SIGKILL);
        while (running()) pause(1ms);
    }
    return *code_;
}

std::string program::output() const
{
    if (terminal_ < 0) return read_file(folder_.path() / "out");
    char buffer[4096];
    for (ssize_t n = 0; (n = ::read(terminal_, buffer, sizeof buffer)) > 0;) seen_.append(buffer, static_cast<std::size_t>(n));
    return seen_;
}

std::string program::errors() const { return terminal_ < 0 ? read_file(folder_.path() / "err") : ""; }

void program::type(std::string const& text) const { check(::write(terminal_, text.data(), text.size()), "write"); }

void expect_failure(arguments const& args, int code, std::string const& words, program_options const& options)
{
    program p{args, options};
    BOOST_TEST(p.wait() == code, p.errors());
    BOOST_TEST(contains(p.errors(), words), p.errors());
    BOOST_TEST(p.errors().starts_with("redlock: "), p.errors());
    BOOST_TEST(p.output() == "");
}

bool eventually(std::function<bool()> const& so)
{
    auto const end = steady::now() + 10s;
    while (!so()) {
        if (steady::now() > end) return false;
        pause(5ms);
    }
    return true;
}

std::string read_file(std::filesystem::path const& file)
{
    std::ifstream stream{file, std::ios::binary};
    return {std::istreambuf_iterator<char>{stream}, {}};
}

std::vector<std::string> lines_of(std::string const& text)
{
    std::istringstream stream{text};
    std::vector<std::string> all;
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
}

bool contains(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

std::string servers::urls() const
{
    std::string text;
    for (auto const& s : all) text += (text.empty() ? "" : ",") + s.url();
    return text;
}

arguments servers::run(std::string const& name, arguments const& options, arguments const& command) const
{
    arguments words{"run", "--bootstrap", name};
    words.insert(words.end(), options.begin(), options.end());
    words.push_back("--");
    words.insert(words.end(), command.begin(), command.end());
    return words;
}

void servers::set_everywhere(std::string const& name, std::string const& value)
{
    for (auto& s : all) s.command({"SET", name, value});
}

std::size_t servers::count_with(std::string const& name)
{
    std::size_t count = 0;
    for (auto& s : all) count += s.command({"EXISTS", name}) == "1" ? 1 : 0;
    return count;
}

}  // namespace redlock::testing
