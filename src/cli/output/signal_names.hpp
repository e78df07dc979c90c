// Signals by their names, as kill(1) takes and shows them. No I/O.
#ifndef REDLOCK_CLI_OUTPUT_SIGNAL_NAMES_HPP
#define REDLOCK_CLI_OUTPUT_SIGNAL_NAMES_HPP

#include <optional>
#include <string>
#include <string_view>

namespace redlock::cli {

// Reads "SIGTERM", "term", "15", "RTMIN+3". None: this system has no such signal.
std::optional<int> signal_of(std::string_view text);

// "SIGTERM", "SIGRTMIN+3"; for a number without a name "signal 99".
std::string name_of_signal(int number);

}  // namespace redlock::cli

#endif
