// The kinds of values that options of the redlock command take: durations, whole numbers, signals, nodes, tickets. Each adds an option to a command, and
// says in words what is wrong with a value.
#ifndef REDLOCK_CLI_OPTIONS_ARGUMENT_KINDS_HPP
#define REDLOCK_CLI_OPTIONS_ARGUMENT_KINDS_HPP

#include "cli/options/commands.hpp"
#include "cli/output/text.hpp"

#include <CLI/CLI.hpp>

#include <charconv>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <system_error>
#include <type_traits>

namespace redlock::cli {

// `name`: "--wait", or "--wait,-w".
CLI::Option* add_duration(CLI::App& to, std::string const& name, std::function<void(milliseconds)> set, std::string const& help);
CLI::Option* add_duration(CLI::App& to, std::string const& name, std::optional<milliseconds>& into, std::string const& help);

struct bounds {
    std::int64_t min;
    std::int64_t max;
};

// A whole number within bounds. `means` says what it is, as in "descriptor".
template <class Into>
CLI::Option* add_number(CLI::App& to, std::string const& name, Into& into, bounds within, std::string const& means, std::string const& help)
{
    auto read = [name, &into, within, means](std::string const& text) {
        std::int64_t value{-1};
        auto const end = text.data() + text.size();
        auto const [stop, error] = std::from_chars(text.data(), end, value);
        if (error != std::errc{} || stop != end || value < within.min || value > within.max)
            throw CLI::ValidationError{name, name_in_words(text) + " is no " + means + "; write a whole number from " +
                                                 std::to_string(within.min) + " to " + std::to_string(within.max)};
        if constexpr (std::is_arithmetic_v<Into>) into = static_cast<Into>(value);
        else into = static_cast<typename Into::value_type>(value);
    };
    return to.add_option_function<std::string>(name, read, help)->type_name("N");
}

void add_signal(CLI::App& to, std::string const& name, int& into, std::string const& help);
void add_nodes(CLI::App& to, node_options& into, bool with_timeout);
void add_ticket(CLI::App& to, ticket_option& into, std::string const& help);

// Of semaphores: adds the options of a command that holds one, or refuses them with a reason; and checks what goes together.
void add_semaphore(CLI::App& to, run_options& into);
void refuse_semaphore(CLI::App& to);
void check_semaphore(run_options const& options);
void check_semaphore(semaphore_command_options const& options);

}  // namespace redlock::cli

#endif
