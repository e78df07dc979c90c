// What completes the redlock command in a shell: made from the parser, which knows all commands and options.
#ifndef REDLOCK_CLI_OPTIONS_COMPLETION_SCRIPTS_HPP
#define REDLOCK_CLI_OPTIONS_COMPLETION_SCRIPTS_HPP

#include <CLI/CLI.hpp>

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

inline constexpr char const* file_type = "FILE";
inline constexpr char const* duration_type = "DURATION";
inline constexpr char const* signal_type = "SIGNAL";

// The words that an argument can be, where these are few.
using argument_choices = std::map<CLI::Option const*, std::vector<std::string>>;

// `shell`: bash, zsh or fish.
std::string completion_script(std::string_view shell, CLI::App const& of, argument_choices const& choices);

}  // namespace redlock::cli

#endif
