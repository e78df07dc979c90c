// The options of the commands that hold and release locks.
#include "cli/options/argument_kinds.hpp"
#include "cli/options/argument_parser.hpp"
#include "cli/options/help_texts.hpp"

namespace redlock::cli {

namespace {

constexpr bounds descriptor_bounds{0, 1'048'575}, passed_bounds{3, 1'023}, exit_code_bounds{0, 255};

// An empty word is a variable of a script that was never set: without it, more locks would be found.
CLI::Option* add_search(CLI::App& to, std::string const& name, std::string& into, std::string const& help)
{
    auto const read = [name, &into](std::string const& text) {
        if (text.empty()) throw CLI::ValidationError{name, "the value is empty"};
        into = text;
    };
    return to.add_option_function<std::string>(name, read, help);
}

template <class Options>
void add_waits(CLI::App& to, Options& into)
{
    auto* const wait = add_duration(to, "--wait,-w", into.wait, "How long to wait for the lock at most; default: as long as it takes");
    to.add_flag("--no-wait,-n", into.no_wait, "Does not wait for a lock that somebody else holds")->excludes(wait);
    add_duration(to, "--wait-servers", into.wait_servers,
                 "How long to wait at most until a majority of the nodes may vote, before the wait for the lock begins: 31 s after a "
                 "restart of all; default: that is part of the wait for the lock");
}

}  // namespace

// Returns --shared.
CLI::Option* argument_parser::add_held(CLI::App& to, run_options& into)
{
    auto* const name = to.add_option("NAME", into.name, "The lock: the key on the servers")->type_name("");
    to.add_option("--name", into.name, "The same, for a name with a leading dash: --name=-x")->type_name("NAME")->excludes(name);
    add_nodes(to, into.from, false);
    add_duration(to, "--ttl", into.ttl,
                 "How long the lock outlives a holder that is not heard of any more; default 30s, with --config what it says");
    add_waits(to, into);
    to.add_option("--label", into.label, "A word for redlock inspect, beside host and process")->type_name("TEXT");
    auto* const no_fencing = to.add_flag("--no-fencing", into.no_fencing,
                                         "Without a fencing token: cheaper, for work that may be done twice once in a while");
    auto* const shared = to.add_flag("--shared", into.shared,
                                     "Holds the lock together with others that say --shared, and with nobody else: a reader")
                             ->excludes(no_fencing);
    add_semaphore(to, into);
    to.add_flag("--bootstrap", into.bootstrap, "Nothing was ever locked on these nodes: does not wait for leases that they may have lost");
    add_number(to, "--events-fd", into.events_fd, descriptor_bounds, "descriptor",
               "Writes to this open descriptor what happens, a line of JSON for each event; the command does not inherit it");
    add_number(to, "--conflict-exit-code", into.conflict_exit_code, exit_code_bounds, "exit code",
               "The exit code when somebody else holds the lock; default 75");
    add_ticket(to, into.ticket, "Instead of NAME: goes on with the lock that redlock acquire acquired");
    auto* const verbose = to.add_flag("--verbose,-v", into.verbose, "Says on stderr when the lock is acquired and released");
    to.add_flag("--quiet,-q", into.quiet, "Does not say on stderr what it waits for, and which processes left the command's group")
        ->excludes(verbose);
    return shared;
}

void argument_parser::hold()
{
    add_held(add("hold", "Holds a lock until its input ends or it gets a signal", hold_examples, hold_), hold_.held);
}

void argument_parser::run()
{
    CLI::App& sub = add("run", "Runs a command while holding a lock", run_examples, run_);
    run_sub_ = &sub;
    auto* const shared = add_held(sub, run_);
    add_duration(sub, "--kill-grace", run_.kill_grace,
                 "From SIGTERM to SIGKILL, when the lease is about to be lost; default: a sixth of the ttl");
    sub.add_flag("--no-env", run_.no_env, "The command does not find the variables REDLOCK_* of this process: passwords in REDLOCK_NODES");
    add_signal(sub, "--on-lost", run_.on_lost, "What the command gets when the lease is lost, before SIGKILL; default TERM");
    sub.add_flag("--pass-notify", run_.pass_notify, "The command finds NOTIFY_SOCKET and tells systemd itself when it is ready");
    add_number(
        sub, "--pass-lease", run_.pass_lease, passed_bounds, "descriptor",
        "The command finds this descriptor open, writes the line \"ticket\" there, reads the ticket of the lock, and goes on with it")
        ->excludes(shared);
}

void argument_parser::lead()
{
    run_options& term = lead_.term;
    CLI::App& sub = add("lead", "Runs a command on one of many hosts, again and again, and publishes where it is", lead_examples, lead_);
    sub.add_option("NAME", term.name, "The election: the lock that the leader holds")->required()->type_name("");
    sub.add_option("--publish", term.publish, "What redlock leader prints while the command runs: mostly an address")
        ->required()
        ->type_name("ADDRESS");
    add_nodes(sub, term.from, false);
    add_duration(sub, "--ttl", term.ttl,
                 "After how long another one leads if this host is not heard of any more; default 30s, with --config what it says");
    add_duration(sub, "--kill-grace", term.kill_grace,
                 "From SIGTERM to SIGKILL, when the lease is about to be lost; default: a sixth of the ttl");
    sub.add_option("--label", term.label, "A word for redlock inspect, beside host and process")->type_name("TEXT");
    sub.add_flag("--bootstrap", term.bootstrap, "Nothing was ever locked on these nodes: does not wait for leases that they may have lost");
    sub.add_flag("--no-env", term.no_env, "The command does not find the variables REDLOCK_* of this process: passwords in REDLOCK_NODES");
    add_signal(sub, "--on-lost", term.on_lost, "What the command gets when the lease is lost, before SIGKILL; default TERM");
    auto* const verbose = sub.add_flag("--verbose,-v", term.verbose, "Says on stderr when this host leads, and when it does not any more");
    sub.add_flag("--quiet,-q", term.quiet, "Does not say on stderr what it waits for, and which processes left the command's group")
        ->excludes(verbose);
}

void argument_parser::acquire()
{
    CLI::App& sub = add("acquire", "Acquires a lock and prints its ticket, with which others go on", acquire_examples, acquire_);
    acquire_name_ = sub.add_option("NAME", acquire_.name, "The lock; behind -- it may begin with a dash")->type_name("");
    add_nodes(sub, acquire_.from, false);
    add_duration(sub, "--ttl", acquire_.ttl,
                 "How long the lock is held; nobody extends it before the ticket is used; default 30s, with --config what it says");
    add_waits(sub, acquire_);
    sub.add_option("--label", acquire_.label, "A word for redlock inspect, beside host and process")->type_name("TEXT");
    refuse_semaphore(sub);
    sub.add_flag("--no-fencing", acquire_.no_fencing, "Without a fencing token");
    sub.add_flag("--bootstrap", acquire_.bootstrap,
                 "Nothing was ever locked on these nodes: does not wait for leases that they may have lost");
    add_number(sub, "--conflict-exit-code", acquire_.conflict_exit_code, exit_code_bounds, "exit code",
               "The exit code when somebody else holds the lock; default 75");
    sub.add_flag("--quiet,-q", acquire_.quiet, "Does not say on stderr what it waits for");
    sub.add_flag("--json", acquire_.json, "Prints JSON");
}

void argument_parser::extend()
{
    CLI::App& sub = add("extend", "Extends a lock by its ticket, and prints the next ticket", extend_examples, extend_);
    add_ticket(sub, extend_.ticket, "What redlock acquire printed, or this command the last time");
    sub.get_option("--ticket")->required();
    add_nodes(sub, extend_.from, false);
    add_duration(sub, "--ttl", extend_.ttl, "How long the lock is held from now on; default: the ttl of the ticket");
    sub.add_flag("--json", extend_.json, "Prints JSON");
}

void argument_parser::release()
{
    CLI::App& sub = add("release", "Releases a lock by its ticket, or takes locks away from their holders", release_examples, release_);
    sub.add_option("NAME", release_.names, "The locks; behind -- they may begin with a dash")->type_name("");
    add_ticket(sub, release_.ticket, "Instead of NAME: releases the lock that redlock acquire acquired");
    add_search(sub, "--host", release_.host, "Instead of NAME: looks for the locks that this host holds")->type_name("HOST");
    add_search(sub, "--pattern", release_.pattern, "Instead of NAME: looks for locks with such names, as redlock list takes it")
        ->type_name("PATTERN");
    add_nodes(sub, release_.from, true);
    sub.add_flag("--force", release_.force, "Needed: the holder is not told, and may go on working");
    sub.add_flag("--yes", release_.yes, "Does not ask");
    sub.add_flag("--json", release_.json, "Prints JSON");
}

}  // namespace redlock::cli
