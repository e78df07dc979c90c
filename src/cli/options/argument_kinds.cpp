#include "cli/options/argument_kinds.hpp"

#include "cli/options/completion_scripts.hpp"
#include "cli/output/signal_names.hpp"

#include <csignal>
#include <utility>

namespace redlock::cli {

namespace {

// The signals that stop a process: they would keep the command from ending.
bool stops(int signal) { return signal == SIGSTOP || signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

}  // namespace

CLI::Option* add_duration(CLI::App& to, std::string const& name, std::function<void(milliseconds)> set, std::string const& help)
{
    auto read = [known_as = name.substr(0, name.find(',')), set = std::move(set)](std::string const& text) {
        auto const d = parse_duration(text);
        if (!d) throw CLI::ValidationError{known_as, name_in_words(text) + " is no duration; write for instance 250ms, 30s, 1m30s or 2h"};
        set(*d);
    };
    return to.add_option_function<std::string>(name, read, help)->type_name(duration_type);
}

CLI::Option* add_duration(CLI::App& to, std::string const& name, std::optional<milliseconds>& into, std::string const& help)
{
    return add_duration(to, name, [&into](milliseconds d) { into = d; }, help);
}

void add_signal(CLI::App& to, std::string const& name, int& into, std::string const& help)
{
    auto read = [name, &into](std::string const& text) {
        auto const number = signal_of(text);
        if (!number)
            throw CLI::ValidationError{name, name_in_words(text) +
                                                 " is no signal; write for instance TERM, INT, USR1 or KILL (kill -l lists them)"};
        if (stops(*number))
            throw CLI::ValidationError{name, name_of_signal(*number) +
                                                 " would stop the command, which is to end; write for instance TERM, INT, USR1 or KILL"};
        into = *number;
    };
    to.add_option_function<std::string>(name, read, help)->type_name(signal_type);
}

void add_nodes(CLI::App& to, node_options& into, bool with_timeout)
{
    to.add_option("--nodes", into.urls,
                  "The nodes, with commas between them: redis://[[user]:password@]host[:port][/db], rediss:// for TLS, unix:///path, "
                  "redis+sentinel://host,.../MASTER for a group, redis-cluster://host,... for a cluster; without it "
                  "and --config: the environment variable REDLOCK_NODES")
        ->type_name("URL,URL,...");
    to.add_option("--config", into.config_file, "A JSON file that says which nodes, and defaults for locks (redlock/json.hpp)")
        ->type_name(file_type);
    to.add_option("--shard", into.shard,
                  "If the nodes are several sets (\"shards\" in the file) or Redis Clusters: the shard to talk to, from 0 on; the name of "
                  "a lock says it, too")
        ->type_name("N");
    to.add_option("--set-name", into.set_name, "What the set of nodes is called (set_name): nodes of another set are refused")
        ->type_name("NAME");
    if (with_timeout)
        add_duration(
            to, "--timeout", [&into](milliseconds d) { into.timeout = d; }, "For a node to connect, and for an answer; default 2s");
}

// An empty word is a variable of a script that was never set. Without this check it would be as if there were no --ticket.
void add_ticket(CLI::App& to, ticket_option& into, std::string const& help)
{
    auto read = [&into](std::string const& text) {
        if (text.empty())
            throw CLI::ValidationError{"--ticket", "the ticket is empty; was there one on the output of redlock acquire or extend?"};
        into.text = text;
    };
    to.add_option_function<std::string>("--ticket", read, help + "; - reads it from the input")->type_name("TICKET");
}

}  // namespace redlock::cli
