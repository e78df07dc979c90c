// Parses the command line into the options of one command.
#ifndef REDLOCK_CLI_OPTIONS_ARGUMENTS_HPP
#define REDLOCK_CLI_OPTIONS_ARGUMENTS_HPP

#include "cli/options/commands.hpp"

#include <string>
#include <variant>
#include <vector>

namespace redlock::cli {

// The command line was --help or --version, and parse() has printed the text already.
struct nothing_to_do {};

using request = std::variant<nothing_to_do, run_options, hold_options, lead_options, leader_options, acquire_options, extend_options,
                             semaphore_command_options, inspect_options, list_options, release_options, watch_options, admit_options,
                             nodes_options, doctor_options, bench_options, dashboard_options, completion_options>;

// `arguments`: without the program's name. Throws `failure` with exit_code::usage.
request parse(std::vector<std::string> arguments);

}  // namespace redlock::cli

#endif
