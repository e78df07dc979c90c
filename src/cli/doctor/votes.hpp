// Whether a lock can be had now, and whether one more failure would change that: what doctor and the dashboard say first, and inspect last.
#ifndef REDLOCK_CLI_DOCTOR_VOTES_HPP
#define REDLOCK_CLI_DOCTOR_VOTES_HPP

#include "cli/doctor/doctor_rules.hpp"
#include "cli/servers/server_group.hpp"
#include "cli/servers/set_views.hpp"
#include "quorum/votes.hpp"

#include <redlock/config.hpp>
#include <redlock/json.hpp>
#include <redlock/status.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace redlock::cli {

// How many nodes of a set vote, and how many may fail before a majority is missing.
struct vote_count {
    std::size_t votes{0};
    std::size_t all{0};
    std::size_t of_set{0};  // so many must vote, as the set has other members than the list; 0: a majority of all

    std::size_t needed() const noexcept { return of_set > 0 ? of_set : quorum::majority(all); }
    bool is_enough() const noexcept { return votes >= needed(); }
    std::size_t spare() const noexcept { return is_enough() ? votes - needed() : 0; }
    // Whether it is so by the number of nodes alone: one node, or two.
    bool is_tight() const noexcept { return is_enough() && spare() == 0 && (votes < all || needed() > quorum::majority(all)); }
    std::string text() const;  // "2 of 3 nodes vote"
    std::string text_of_needed() const;  // "and 2 must"
};

bool votes(node_status const& n, bool with_tokens);

// Whether it will say nothing else in the next moments.
bool has_spoken(node_status const& n, bool with_tokens);

// What a client with this configuration, which locks nothing, sees of its nodes when each of them has voted or said why not, or after `timeout`.
std::vector<node_status> look_as_a_client(config settings, bool with_tokens, std::chrono::milliseconds timeout);

// The finding that nobody can acquire a lock, in which shards, and why; or that no further node may fail. None: neither is so. No I/O.
std::vector<finding> judge_votes(std::vector<node_status> const& nodes, bool with_tokens, set_words const& said = {},
                                 std::string const& remedy = "see what is said of each node; redlock admit waits until they vote, or says "
                                                             "that only an operator can help");

// What a client that locks nothing does not see: why a grant would fail, which is why such nodes do not vote; and that nodes will vote as soon as one asks.
// `nodes`: what such a client sees, in the order of the others. No I/O.
void note_what_a_lock_shows(std::vector<node_status>& nodes, std::vector<doctor_probe> const& asked, config const& settings);

// No I/O.
set_words words_of_set(std::vector<doctor_probe> const& nodes, config const& settings);

// For a command that is about something else: all of that, of the nodes that it talks to.
struct vote_report {
    std::vector<finding> findings;
    set_words set;
};
vote_report report_about_votes(server_group& nodes, settings const& from, std::chrono::milliseconds timeout);

}  // namespace redlock::cli

#endif
