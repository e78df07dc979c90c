// The options about semaphores.
#include "cli/options/argument_kinds.hpp"
#include "cli/options/argument_parser.hpp"
#include "cli/options/help_texts.hpp"
#include "cli/output/exit_codes.hpp"

namespace redlock::cli {

namespace {

constexpr bounds permit_bounds{1, 64};

}  // namespace

void argument_parser::semaphore()
{
    CLI::App& sub = add("semaphore", "Says who holds the permits of a semaphore, and changes how many there are", semaphore_examples,
                        semaphore_);
    semaphore_name_ = sub.add_option("NAME", semaphore_.name, "The semaphore; behind -- it may begin with a dash")->type_name("");
    add_nodes(sub, semaphore_.from, true);
    add_number(sub, "--permits", semaphore_.permits, permit_bounds, "number of permits",
               "Changes the number to this one, on all nodes, and waits until nobody holds a slot above it");
    add_duration(sub, "--wait,-w", semaphore_.wait, "With --permits: how long to wait for them at most; default: as long as it takes");
    sub.add_flag("--bootstrap", semaphore_.bootstrap,
                 "With --permits: nothing was ever locked on these nodes: does not wait for leases that they may have lost");
    sub.add_flag("--json", semaphore_.json, "Prints JSON");
}

void add_semaphore(CLI::App& to, run_options& into)
{
    add_number(to, "--permits", into.permits, permit_bounds, "number of permits",
               "NAME is a semaphore: at most so many hold it at once, on all hosts. All must say the same number (redlock semaphore)");
    add_number(to, "--take", into.take, permit_bounds, "number of permits",
               "With --permits: takes so many of them at once, all or none; default 1");
}

// An option that is not there.
void refuse_semaphore(CLI::App& to)
{
    auto const refuse = [](std::string const&) {
        throw CLI::ValidationError{
            "--permits", "there are no tickets of permits; redlock run NAME --permits K -- COMMAND holds one while a command runs"};
    };
    to.add_option_function<std::string>("--permits", refuse, "")->group("");
}

// What a permit is not, or cannot be combined with.
void check_semaphore(run_options const& options)
{
    auto const refuse_with = [](char const* why, char const* option) {
        throw failure{exit_code::usage, std::string{why} + ": --permits goes without " + option};
    };
    if (options.take && !options.permits)
        throw failure{exit_code::usage, "--take is how many permits of a semaphore: say with --permits how many there are in all"};
    if (!options.permits) return;
    if (options.shared) refuse_with("a permit is held by one alone, and readers are not counted", "--shared");
    if (options.no_fencing) refuse_with("permits need tokens", "--no-fencing");
    if (!options.ticket.text.empty()) refuse_with("there are no tickets of permits", "--ticket");
    if (options.pass_lease) refuse_with("there are no tickets of permits", "--pass-lease");
    if (options.take && *options.take > *options.permits)
        throw failure{exit_code::usage, "--take " + std::to_string(*options.take) + " is more than the " +
                                            std::to_string(*options.permits) + " permits that there are"};
}

void check_semaphore(semaphore_command_options const& options)
{
    if (!options.permits && (options.wait || options.bootstrap))
        throw failure{exit_code::usage, "--wait and --bootstrap are for a change: give --permits, too"};
}

}  // namespace redlock::cli
