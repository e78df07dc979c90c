// What the command ends with. The codes of `redlock run` are among those of sysexits.h, or next to them, where a command's own seldom are.
#ifndef REDLOCK_CLI_EXIT_CODES_HPP
#define REDLOCK_CLI_EXIT_CODES_HPP

#include <stdexcept>
#include <string>

namespace redlock::cli {

enum class exit_code : int {
    success = 0,
    warnings = 1,        // doctor: something should be changed. release: there was nothing to delete
    dangers = 2,         // doctor: locks can break, or be had by nobody
    usage = 64,          // EX_USAGE
    no_majority = 69,    // EX_UNAVAILABLE: too few nodes answered
    internal = 70,       // EX_SOFTWARE, EX_OSERR: the system refused something
    contended = 75,      // EX_TEMPFAIL: somebody else holds it
    config = 78,         // EX_CONFIG: the nodes, or the file that names them
    lost = 79,           // the lease was lost, and the command ended for that
    not_admitted = 80,   // admit: a node may not vote, and more waiting is of no use, or was not wanted
    cannot_execute = 126,
    not_found = 127,
    signal = 128,        // and the signal's number
};

inline int to_int(exit_code code) noexcept { return static_cast<int>(code); }

// Ends the command with a sentence on stderr.
class failure : public std::runtime_error {
public:
    failure(exit_code ends_with, std::string const& what) : std::runtime_error{what}, code{ends_with} {}

    exit_code const code;
};

}  // namespace redlock::cli

#endif
