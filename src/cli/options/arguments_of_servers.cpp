// The options of the commands about nodes, and of completion.
#include "cli/options/argument_kinds.hpp"
#include "cli/options/argument_parser.hpp"
#include "cli/options/help_texts.hpp"

namespace redlock::cli {

namespace {

constexpr bounds caller_bounds{1, 10'000};

}  // namespace

void argument_parser::admit()
{
    CLI::App& sub = add("admit", "Waits until all nodes are admitted for locks with fencing", admit_examples, admit_);
    add_nodes(sub, admit_.from, false);
    add_duration(sub, "--timeout", admit_.timeout, "How long to wait at most; default: as long as it takes");
    sub.add_flag("--json", admit_.json, "Prints JSON in the end, and nothing meanwhile");
}

void argument_parser::nodes()
{
    CLI::App& sub = add("nodes", "Says which servers belong together: their set; changes it", nodes_examples, nodes_);
    auto* const action = sub.add_option("ACTION", nodes_.action, "show, replace, grow, or shrink")->required()->type_name("");
    choices_[action] = {"show", "replace", "grow", "shrink"};
    sub.add_option("SERVERS", nodes_.servers,
                   "Of replace: the member that leaves and the server that joins; of grow: those that join; of shrink: those that leave")
        ->type_name("OLD NEW");
    add_nodes(sub, nodes_.from, true);
    add_duration(sub, "--wait,-w", nodes_.timeout,
                 "With replace and grow: how long to wait for a new member at most; default: as long as it takes");
    sub.add_flag("--end-leases", nodes_.may_end_leases,
                 "With grow, of a set of one node: leases that are held may end, and nobody gets a lock until a second node may vote");
    sub.add_flag("--json", nodes_.json, "Prints JSON");
}

void argument_parser::doctor()
{
    CLI::App& sub = add("doctor", "Says what endangers locks on the nodes, the worst first", doctor_examples, doctor_);
    add_nodes(sub, doctor_.from, true);
    add_duration(sub, "--ttl", doctor_.ttl, "The ttl of your locks, to compare with round trips; default 10s, with --config what it says");
    sub.add_option("--name", doctor_.name, "The name of a lock, where permissions depend on names")->type_name("NAME");
    sub.add_flag("--json", doctor_.json, "Prints JSON");
}

void argument_parser::bench()
{
    CLI::App& sub = add("bench", "Measures what locks cost on the nodes", bench_examples, bench_);
    add_nodes(sub, bench_.from, true);
    add_duration(sub, "--time", [this](milliseconds d) { bench_.time = d; }, "How long to measure; default 5s");
    add_number(sub, "--callers", bench_.callers, caller_bounds, "number of callers",
               "How many acquire at the same time, after one alone; default 16");
    add_duration(sub, "--ttl", bench_.ttl, "The ttl of the locks; default 10s, with --config what it says");
    sub.add_flag("--no-fencing", bench_.no_fencing, "Locks without fencing tokens");
    sub.add_flag("--bootstrap", bench_.bootstrap,
                 "Nothing was ever locked on these nodes: does not wait for leases that they may have lost");
    sub.add_flag("--json", bench_.json, "Prints JSON");
}

void argument_parser::dashboard()
{
    CLI::App& sub = add("dashboard", "Shows nodes, locks and their last minutes to a browser", dashboard_examples, dashboard_);
    add_nodes(sub, dashboard_.from, false);
    sub.add_option("--listen", dashboard_.listen, "Where; default 127.0.0.1:8480. An address that other machines can reach needs a token")
        ->type_name("ADDRESS:PORT");
    sub.add_option("--token-file", dashboard_.token_file,
                   "Holds the token that browsers ask for as a password; without it: REDLOCK_DASHBOARD_TOKEN")
        ->type_name(file_type);
    sub.add_option("--host", dashboard_.hosts, "A name by which browsers ask for it, besides addresses and localhost")->type_name("NAME");
    sub.add_option("--pattern", dashboard_.pattern, "Which locks, as redlock list takes it; default: all")->type_name("PATTERN");
    add_number(sub, "--limit", dashboard_.limit, {1, 150'000}, "number of locks", "How many locks to find at most; default 10000");
    add_duration(sub, "--interval", [this](milliseconds d) { dashboard_.interval = d; }, "Between two looks; default 1s");
    add_duration(sub, "--history", [this](milliseconds d) { dashboard_.history = d; }, "How much it keeps; default 10m");
    add_duration(
        sub, "--timeout", [this](milliseconds d) { dashboard_.from.timeout = d; },
        "For a node to connect, and for an answer; default 500ms");
}

void argument_parser::completion()
{
    CLI::App& sub = add("completion", "Prints a script that completes this command in a shell", completion_examples, completion_);
    std::vector<std::string> const shells{"bash", "zsh", "fish"};
    choices_[sub.add_option("SHELL", completion_.shell, "bash, zsh or fish")->required()->type_name("")->check(CLI::IsMember(shells))] =
        shells;
}

}  // namespace redlock::cli
