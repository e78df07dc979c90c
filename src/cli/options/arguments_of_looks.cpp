// The options of the commands that show locks.
#include "cli/options/argument_kinds.hpp"
#include "cli/options/argument_parser.hpp"
#include "cli/options/help_texts.hpp"

namespace redlock::cli {

namespace {

constexpr bounds limit_bounds{1, 1'000'000}, count_bounds{1, 1'000'000'000};

}  // namespace

void argument_parser::inspect()
{
    CLI::App& sub = add("inspect", "Says who holds locks, on which nodes, and how safely", inspect_examples, inspect_);
    names_.push_back(sub.add_option("NAME", inspect_.names, "The locks; behind -- they may begin with a dash")->required()->type_name(""));
    add_nodes(sub, inspect_.from, true);
    sub.add_flag("--json", inspect_.json, "Prints JSON");
}

void argument_parser::list()
{
    CLI::App& sub = add("list", "Says which locks are held, and by whom, without knowing their names", list_examples, list_);
    list_pattern_ = sub.add_option("PATTERN", list_.pattern,
                                   "Names as the servers match them, such as orders:*; behind -- it may begin with a dash; default: all")
                        ->type_name("");
    add_nodes(sub, list_.from, true);
    add_duration(sub, "--time", [this](milliseconds d) { list_.time = d; }, "How long to search at most; default 10s");
    add_number(sub, "--limit", list_.limit, limit_bounds, "number of locks", "How many locks to find at most; default 10000");
    sub.add_flag("--foreign", list_.foreign, "Also keys whose values are not of this library: locks of others, or no locks at all");
    auto* const watch = sub.add_flag("--watch", list_.watch, "Searches again and again");
    add_duration(
        sub, "--interval", [this](milliseconds d) { list_.interval = d; }, "With --watch: between two searches; default 2s")
        ->needs(watch);
    add_number(sub, "--count", list_.count, count_bounds, "number of searches",
               "With --watch: ends after so many searches; default: with Ctrl-C")
        ->needs(watch);
    sub.add_flag("--json", list_.json, "Prints JSON; with --watch a line for each search");
}

void argument_parser::watch()
{
    CLI::App& sub = add("watch", "Shows holders of locks again and again", watch_examples, watch_);
    names_.push_back(sub.add_option("NAME", watch_.names, "The locks; behind -- they may begin with a dash")->required()->type_name(""));
    add_nodes(sub, watch_.from, true);
    add_duration(sub, "--interval", [this](milliseconds d) { watch_.interval = d; }, "Between two looks; default 1s");
    add_number(sub, "--count", watch_.count, count_bounds, "number of looks", "Ends after so many looks; default: with Ctrl-C");
    sub.add_flag("--json", watch_.json, "Prints a line of JSON for each look and lock");
}

void argument_parser::leader()
{
    CLI::App& sub = add("leader", "Prints what the leader has published", leader_examples, leader_);
    leader_name_ = sub.add_option("NAME", leader_.name, "The election; behind -- it may begin with a dash")->type_name("");
    add_nodes(sub, leader_.from, true);
    sub.add_flag("--watch", leader_.watch, "Prints a line now and with each change, until Ctrl-C");
    sub.add_flag("--json", leader_.json, "Prints JSON; with --watch a line for each change");
}

}  // namespace redlock::cli
