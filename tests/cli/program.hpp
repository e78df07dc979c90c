// Runs the redlock command as a user would: the real executable, with its own input, output and environment.
#ifndef REDLOCK_TESTS_CLI_PROGRAM_HPP
#define REDLOCK_TESTS_CLI_PROGRAM_HPP

#include "support/redis_server.hpp"
#include "support/temporary_folder.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <cstddef>
#include <deque>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <sys/types.h>

namespace redlock::testing {

using arguments = std::vector<std::string>;

// Its path: the one that was built, or that of the environment (tests/mutation).
std::string command_under_test();

struct program_options {
    std::vector<std::pair<std::string, std::string>> environment{};  // in addition to ours
    std::string input{};       // a pipe with this in it; empty: /dev/null
    bool terminal{false};      // input, output and errors are a terminal, and the program leads its session
    bool ignore_hangup{false}; // as nohup does
    int columns{0};            // of the terminal; 0: it does not say
    bool closed_output{false};  // as by >&- in a shell
    bool unread_output{false};  // a pipe whose reader has ended, as head does
    int errors{-1};  // a descriptor for them; -1: errors() has them
    int output{-1};  // the same for it
};

// A pipe that nobody reads, and that takes nothing more.
class full_pipe {
public:
    full_pipe();
    full_pipe(full_pipe const&) = delete;
    full_pipe& operator=(full_pipe const&) = delete;
    ~full_pipe();

    int end() const noexcept { return ends_[1]; }

private:
    int ends_[2];
};

// One run. It never outlives the object.
class program {
public:
    explicit program(arguments const& args, program_options const& options = {});
    program(program const&) = delete;
    program& operator=(program const&) = delete;
    ~program();

    pid_t pid() const noexcept { return pid_; }
    void send(int signal) const;

    // Waits for the end: the exit code, or 128 and the signal. Fails the test after so long, and kills it.
    int wait(std::chrono::milliseconds patience = std::chrono::seconds{20});
    bool running();

    std::string output() const;  // so far; of a terminal all of it
    std::string errors() const;
    nlohmann::json json() const { return nlohmann::json::parse(output()); }

    // Types into the terminal.
    void type(std::string const& text) const;

private:
    void start_on_terminal(std::vector<char*> const& argv, std::vector<char*> const& envp, int columns);
    void start(std::vector<char*> const& argv, std::vector<char*> const& envp, program_options const& options);

    temporary_folder folder_{"redlock-cli-"};
    pid_t pid_{-1};
    int terminal_{-1};
    mutable std::string seen_;  // on the terminal
    std::optional<int> code_;
};

// What the command ends with, as docs/cli.md says it.
namespace exits {
constexpr int usage = 64, internal = 70, contended = 75, config = 78, lost = 79;
}

// The command ends with this code. Its errors begin with its name and have these words in them; its output is empty.
void expect_failure(arguments const& args, int code, std::string const& words, program_options const& options = {});

// Waits until it is so, for ten seconds at most.
bool eventually(std::function<bool()> const& so);

std::string read_file(std::filesystem::path const& file);
std::vector<std::string> lines_of(std::string const& text);
bool contains(std::string const& text, std::string const& part);

// Servers of a test's own, and a folder.
struct servers {
    explicit servers(std::size_t count = 3) : all(count) {}

    std::string urls() const;
    program_options environment(std::string const& input = "") const { return {{{"REDLOCK_NODES", urls()}}, input}; }

    // `redlock run --bootstrap NAME ... -- COMMAND`.
    arguments run(std::string const& name, arguments const& options, arguments const& command) const;

    void set_everywhere(std::string const& name, std::string const& value);
    std::size_t count_with(std::string const& name);

    std::deque<redis_server> all;
    temporary_folder folder{"redlock-cli-test-"};
};

struct three_servers : servers {};

}  // namespace redlock::testing

#endif
