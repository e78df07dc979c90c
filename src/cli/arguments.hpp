// The command line, as text, to what is asked for.
#ifndef REDLOCK_CLI_ARGUMENTS_HPP
#define REDLOCK_CLI_ARGUMENTS_HPP

#include "cli/commands.hpp"

#include <string>
#include <variant>
#include <vector>

namespace redlock::cli {

// Said already, to whoever asked: --help or --version.
struct nothing_to_do {};

using request = std::variant<nothing_to_do, run_options, inspect_options, release_options, watch_options, admit_options, doctor_options,
                             bench_options, completion_options>;

// `arguments`: without the program's name. Prints help and version. Throws failure with `usage`.
request parse(std::vector<std::string> arguments);

}  // namespace redlock::cli

#endif
