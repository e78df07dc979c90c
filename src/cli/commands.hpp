// src/cli: the redlock command.
//
//   arguments     the command line to one of the structures below (CLI11 is in there and nowhere else)
//   settings      which nodes, from where
//   node_link     asks one server; server_group: all of them; reply: what they answer
//   sight         what the nodes hold under a name, and what that comes to
//   inspect, release, watch, bench    the commands of these names
//   list          looks for locks (lock_search), among keys that match (name_pattern), and shows them (lock_list)
//   doctor        asks (doctor_probe) for facts, decides without I/O what is wrong (diagnosis), and says so
//   admit         waits until all nodes may vote
//   tickets       acquire, extend and release --ticket: a lease that no process minds, held by its ticket
//   run           a session: acquires, minds the lease and the signals, releases
//   glance        what the nodes hold, while something else goes on; waiting: why a lock is not had, in words
//   run_events    what happens, for a program that reads (event_stream: without waiting for it); service_manager: the same for systemd
//   signal_names  signals as people write them
//   child         the process that runs the command; guardian: the one that ends it when nobody else can
//   offspring     processes that the command started and that left its group
//   times         when a command must end, by the end of its lease
//   completions/  for shells; completion prints them
//   text, terminal, exit_codes        what they share
#ifndef REDLOCK_CLI_COMMANDS_HPP
#define REDLOCK_CLI_COMMANDS_HPP

#include <chrono>
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
};

// The ticket of a lease, as the command line gives it: the ticket itself, or "-" for a line of the input.
struct ticket_option {
    std::string text;
};

struct run_options {
    node_options from;
    std::string name;
    std::optional<milliseconds> ttl;
    std::optional<milliseconds> wait;
    std::optional<milliseconds> kill_grace;
    bool no_wait{false};
    bool no_fencing{false};
    bool shared{false};
    bool bootstrap{false};
    bool verbose{false};
    bool quiet{false};
    bool no_env{false};
    bool pass_notify{false};
    std::optional<int> events_fd;
    int on_lost{15};  // SIGTERM
    std::optional<int> conflict_exit_code;
    std::string label;
    ticket_option ticket;  // empty: NAME is acquired
    std::vector<std::string> command;
};

struct acquire_options {
    node_options from;
    std::string name;
    std::optional<milliseconds> ttl;
    std::optional<milliseconds> wait;
    bool no_wait{false};
    bool no_fencing{false};
    bool bootstrap{false};
    bool quiet{false};
    std::optional<int> conflict_exit_code;
    std::string label;
};

struct extend_options {
    node_options from;
    std::optional<milliseconds> ttl;
    ticket_option ticket;
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

struct completion_options {
    std::string shell;
};

// Each returns what the process ends with, or throws failure.
int execute(run_options const& options);
int execute(acquire_options const& options);
int execute(extend_options const& options);
int execute(inspect_options const& options);
int execute(list_options const& options);
int execute(release_options const& options);
int execute(watch_options const& options);
int execute(admit_options const& options);
int execute(doctor_options const& options);
int execute(bench_options const& options);
int execute(completion_options const& options);

}  // namespace redlock::cli

#endif
