// src/cli: the redlock command.
//
//   arguments     the command line to one of the structures below (CLI11 is in there and nowhere else): argument_parser, arguments_of_holders,
//                 arguments_of_looks and arguments_of_servers have the options of the commands; argument_kinds reads durations, numbers and the like
//   settings      which nodes, from where
//   node_link     asks one server; server_group: all of them; reply: what they answer
//   lock_view     what the nodes hold under a name, and what that comes to; lock_view_text: the same in words
//   semaphore_view    the same of a semaphore; semaphore_text: in words
//   semaphore     shows a semaphore, or changes its number of permits (permit_change)
//   inspect, release, watch, bench    the commands of these names
//   list          looks for locks (lock_search), among keys that match (lock_key_pattern), and shows them (lock_list; list_part: some of them), the slots
//                 of a semaphore together (slot_search)
//   doctor        asks (doctor_probes) for facts, decides without I/O what is wrong (doctor_rules, doctor_group,
//                 doctor_admission, doctor_clocks), and says so
//   admit         waits until all nodes may vote
//   nodes         node_change: the members of a set are changed (admission_wait: the wait of admit); and which servers belong together (set_views: as they say it, and who would be refused)
//   dashboard/    a page for browsers: what the nodes and locks are and were
//   tickets       acquire, extend and release --ticket: a lease that no process minds, held by its ticket
//   leader        who leads: what redlock lead has published
//   run, hold, lead   a session: acquires, minds the lease and the signals, releases
//   glance        what the nodes hold, while something else goes on; waiting: why a lock is not had, in words; vote_wait: waits for servers, not for holders
//   run_events    what happens, for a program that reads (event_stream: without waiting for it); service_manager: the same for systemd
//   signal_names  signals as people write them; ending_signals: those that end a command
//   notes         words on stderr that keep nothing waiting
//   child         the process that runs the command; guardian: the one that ends it when nobody else can; lease_passing: gives it the ticket
//   offspring     processes that the command started and that left its group
//   times         when a command must end, by the end of its lease
//   completions/  for shells; completion prints them
//   text, terminal, exit_codes        what they share
#ifndef REDLOCK_CLI_OPTIONS_COMMANDS_HPP
#define REDLOCK_CLI_OPTIONS_COMMANDS_HPP

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace redlock::cli {

using std::chrono::milliseconds;

// Where the nodes are from. Empty: not said.
struct node_options {
    std::string urls;
    std::string config_file;
    milliseconds timeout{2'000};  // for a node to connect, and for an answer
    std::optional<std::size_t> shard{};  // of a configuration with several sets of nodes
    std::string set_name{};  // of the set that the nodes must be; empty: not said
    bool quiet{false};  // no warnings
};

// The ticket of a lease, as the command line gives it: the ticket itself, or "-" for a line of the input.
struct ticket_option {
    std::string text;
};

struct run_options {
    node_options from;
    std::string name;
    std::optional<milliseconds> ttl;
    std::optional<milliseconds> wait;  // for the lock
    std::optional<milliseconds> wait_servers;  // until a majority of the nodes may vote; none: that is part of the other wait
    std::optional<milliseconds> kill_grace;
    bool no_wait{false};
    bool no_fencing{false};
    bool shared{false};
    std::optional<std::uint32_t> permits;  // NAME is a semaphore with so many
    std::optional<std::uint32_t> take;  // so many of them at once
    bool bootstrap{false};
    bool verbose{false};
    bool quiet{false};
    bool no_env{false};
    bool pass_notify{false};
    std::optional<int> events_fd;
    std::optional<int> pass_lease;
    int on_lost{15};  // SIGTERM
    std::optional<int> conflict_exit_code;
    std::string label;
    ticket_option ticket;  // empty: NAME is acquired
    std::optional<std::string> publish;  // with the lock, while the command runs
    std::vector<std::string> command;  // empty: that of hold_options
};

// As run, with no command: until the input ends, or a signal comes.
struct hold_options {
    run_options held;
};

// As run, again and again: a command that leads.
struct lead_options {
    run_options term;
};

struct leader_options {
    node_options from;
    std::string name;
    bool watch{false};
    bool json{false};
};

// Of a semaphore: looks, or changes the number of permits.
struct semaphore_command_options {
    node_options from;
    std::string name;
    std::optional<std::uint32_t> permits;  // the new number; none: looks
    std::optional<milliseconds> wait;  // for the holders above it
    bool bootstrap{false};
    bool json{false};
};

struct acquire_options {
    node_options from;
    std::string name;
    std::optional<milliseconds> ttl;
    std::optional<milliseconds> wait;
    std::optional<milliseconds> wait_servers;  // as of run
    bool no_wait{false};
    bool no_fencing{false};
    bool bootstrap{false};
    bool quiet{false};
    bool json{false};
    std::optional<int> conflict_exit_code;
    std::string label;
};

struct extend_options {
    node_options from;
    std::optional<milliseconds> ttl;
    ticket_option ticket;
    bool json{false};
};

struct inspect_options {
    node_options from;
    std::vector<std::string> names;
    bool json{false};
};

struct list_options {
    node_options from;
    std::string pattern{"*"};
    milliseconds time{10'000};  // for one search
    std::uint64_t limit{10'000};  // locks
    bool foreign{false};
    bool watch{false};
    milliseconds interval{2'000};
    std::uint64_t count{0};  // 0: until it is interrupted
    bool json{false};
};

struct release_options {
    node_options from;
    std::vector<std::string> names;
    std::string host;  // instead of names: locks that this host holds; empty: of any
    std::string pattern;  // instead of names: locks with names like this; empty: all
    ticket_option ticket;  // instead of names
    bool force{false};
    bool yes{false};
    bool json{false};
};

struct watch_options {
    node_options from;
    std::vector<std::string> names;
    milliseconds interval{1'000};
    std::uint64_t count{0};  // 0: until it is interrupted
    bool json{false};
};

struct admit_options {
    node_options from;
    std::optional<milliseconds> timeout;  // for all of it
    bool json{false};
};

struct nodes_options {
    node_options from;
    std::string action;
    std::vector<std::string> servers{};  // replace: the old one and the new one; grow, shrink: those that join or leave
    std::optional<milliseconds> timeout{};  // for the admission of a new member
    bool may_end_leases{false};  // grow: of one node
    bool json{false};
};

struct doctor_options {
    node_options from;
    std::optional<milliseconds> ttl;
    std::string name;  // tries the permissions on this lock; empty: on one of its own
    bool json{false};
};

struct bench_options {
    node_options from;
    std::optional<milliseconds> ttl;
    milliseconds time{5'000};
    std::uint32_t callers{16};
    bool no_fencing{false};
    bool bootstrap{false};
    bool json{false};
};

struct dashboard_options {
    node_options from{{}, {}, milliseconds{500}};
    std::string listen{"127.0.0.1:8480"};
    std::string token_file;  // empty: the token is in the environment, or there is none
    std::vector<std::string> hosts;  // names by which it is asked, besides addresses and localhost
    std::string pattern{"*"};
    std::uint64_t limit{10'000};  // locks
    milliseconds interval{1'000};  // between two looks
    milliseconds history{600'000};
};

struct completion_options {
    std::string shell;
    std::string script;
};

// Each returns what the process ends with, or throws failure.
int execute(run_options const& options);
int execute(hold_options const& options);
int execute(lead_options const& options);
int execute(leader_options const& options);
int execute(acquire_options const& options);
int execute(extend_options const& options);
int execute(semaphore_command_options const& options);
int execute(inspect_options const& options);
int execute(list_options const& options);
int execute(release_options const& options);
int execute(watch_options const& options);
int execute(admit_options const& options);
int execute(nodes_options const& options);
int execute(doctor_options const& options);
int execute(bench_options const& options);
int execute(dashboard_options const& options);
int execute(completion_options const& options);

}  // namespace redlock::cli

#endif
