// The answers of one node to `redlock doctor`: doctor_probes fills them in, doctor_rules and the report read them. No I/O.
#ifndef REDLOCK_CLI_DOCTOR_FACTS_HPP
#define REDLOCK_CLI_DOCTOR_FACTS_HPP

#include <redlock/error.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace redlock::cli {

// One reading of a server's clock.
struct clock_sample {
    std::chrono::nanoseconds round_trip{};
    std::chrono::nanoseconds ahead{};  // how far it is ahead of this machine's wall clock, if request and answer took the same time
};

struct answers;

// From the answer to TIME alone; none: there is none.
std::optional<clock_sample> sample_of(answers const& said);

// The sample with the shortest round trip, which says most.
std::optional<clock_sample> best_of(auto const& samples)
{
    auto const best = std::min_element(samples.begin(), samples.end(),
                                       [](auto const& a, auto const& b) { return a.round_trip < b.round_trip; });
    return best == samples.end() ? std::nullopt : std::optional{*best};
}

// A command that the library needs and that the server refused.
struct refusal {
    std::string command;
    std::string words;  // the server's error
    std::string costs;  // what does not work without the command
    bool needed_by_all{true};  // false: locks work without the command, too, but worse
};

// What is known of a node that is a group.
struct group_probe {
    struct trouble {
        enum class remedy : std::uint8_t { mend, take_out, reset };
        std::string sentinel;
        std::string words;
        remedy by{remedy::mend};
    };
    std::string primary;  // host:port
    std::uint64_t epoch{0};
    std::size_t size{0};  // S: the primary, and all replicas that most Sentinels know
    std::size_t acknowledgements{0};  // k
    std::string problem;  // why there is no k; empty: there is one
    std::chrono::milliseconds down_after{0};  // how long the Sentinels take to notice that a server is down
    std::optional<std::size_t> attached;  // replicas that the primary has; none: it does not say
    std::vector<std::string> missing;  // replicas that the Sentinels know and the primary does not have
    std::vector<std::string> unknown;  // replicas that the primary has and no Sentinel knows
    std::vector<trouble> troubles;  // Sentinels that do not answer, or disagree
};

// The answers of one node.
struct doctor_probe {
    std::string node;
    error_code why;
    std::string problem;  // why the node could not be asked; empty: it answered
    std::string info;  // the answer to INFO all; empty if the permissions forbid INFO
    std::string info_refused;  // the error that INFO got instead
    std::string
        takes_no_writes;  // the error of a command that would have written, had it found anything; empty: there was none, or of a user who may not
    bool config_refused{false};  // CONFIG was answered with an error: forbidden, as managed services do, or unknown
    std::string append_fsync;  // the setting appendfsync; empty: unknown
    std::optional<std::string> save;  // the setting save; none: unknown
    std::string user;  // the user of the server whose permissions apply; empty: unknown
    std::string record;  // the node's record, see protocol/fence_keys.hpp; empty: none
    std::string set;  // the record of the node's set, as quorum::read_set_text() takes it
    bool has_high_water{false};  // the key of the high-water mark exists
    std::optional<std::vector<std::string>>
        watched_from;  // hosts of the clients that wait for this node's admission; none: CLIENT LIST is refused
    std::optional<std::chrono::nanoseconds> waited_here;  // how long processes of this machine have waited for its quarantine to end
    std::optional<group_probe> group;  // none: the node is one server
    std::vector<std::string> met_again;  // the run_id of the server that each further connection to the same address led to
    std::vector<clock_sample> clock;
    std::vector<refusal> refused;

    std::string_view field(std::string_view name) const;  // of INFO; empty: there is no such field
    std::uint64_t number(std::string_view name) const;  // a field of INFO as a number; 0: there is no such field
    std::string_view version() const;  // of the server, be it Redis or Valkey; empty: unknown
    bool is_sentinel() const { return field("redis_mode") == "sentinel"; }
    bool is_admitted() const;  // the server's record says so, for this loss of data; where the ACL forbids INFO, the record is trusted
    bool has_foreign_record() const;  // something else is where its record should be
    std::chrono::seconds without_loss() const;  // for how long it has certainly lost nothing; 0: it does not show it, or is admitted
    std::string_view mark() const;  // the mark in the node's record: it names the loss of data that clients wait for; empty: none
    std::optional<std::uint64_t> marked_at() const;  // when, in seconds since 1970 by the server's clock; none: it has no mark
    std::chrono::nanoseconds round_trip() const;  // the shortest
    std::optional<clock_sample> best_clock() const { return best_of(clock); }
    std::string persistence() const;  // how the server saves its data, in a word or two
    bool evicts() const;  // keys, when its memory is full
    double memory_used() const;  // of maxmemory; 0: it has no limit
    std::vector<std::uint64_t> silence_of_replicas() const;  // of those that are late: how many seconds ago each was heard
    std::size_t replicas_in_time() const;  // those that have its data and have acknowledged something in the last moments
};

// Whether a server's error says that it does not know the command.
bool is_unknown_command(std::string_view error);

}  // namespace redlock::cli

#endif
