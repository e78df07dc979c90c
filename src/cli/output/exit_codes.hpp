// The exit codes of all subcommands, and the exception that ends one. `redlock run` usually ends with the exit code of the user's command. Its own
// codes are those of sysexits.h or close to them, since commands seldom use these.
#ifndef REDLOCK_CLI_OUTPUT_EXIT_CODES_HPP
#define REDLOCK_CLI_OUTPUT_EXIT_CODES_HPP

#include <stdexcept>
#include <string>

namespace redlock::cli {

enum class exit_code : int {
    success = 0,
    warnings = 1,  // doctor: an operator should change something; release: nothing was deleted
    dangers = 2,  // doctor: two clients could hold one lock, or no client can get one
    usage = 64,  // EX_USAGE: wrong options or arguments
    no_majority = 69,  // EX_UNAVAILABLE: too few nodes answered
    internal = 70,  // EX_SOFTWARE, EX_OSERR: a system call failed
    contended = 75,  // EX_TEMPFAIL: another client holds the lock
    config = 78,  // EX_CONFIG: the list of nodes or the configuration file is wrong
    lost = 79,  // run, acquire, extend, release: the lease was lost before the command had ended, or its ticket could be used
    not_admitted = 80,  // admit: a node has no vote, and the timeout is over, or an operator has to act
    cannot_execute = 126,  // run: as in shells
    not_found = 127,  // run: as in shells
    signal = 128,  // run: the signal's number is added
};

inline int to_int(exit_code code) noexcept { return static_cast<int>(code); }
inline exit_code ended_by(int signal) noexcept { return static_cast<exit_code>(to_int(exit_code::signal) + signal); }

// Ends redlock with an exit code. main writes what() to stderr.
class failure : public std::runtime_error {
public:
    failure(exit_code exits_with, std::string const& what) : std::runtime_error{what}, code{exits_with} {}

    exit_code const code;
};

}  // namespace redlock::cli

#endif
