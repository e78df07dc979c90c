// Whether a lock can be had now, and whether one more failure would change that: what doctor and the dashboard say first.
#ifndef REDLOCK_CLI_VOTES_HPP
#define REDLOCK_CLI_VOTES_HPP

#include "cli/doctor_rules.hpp"
#include "quorum/votes.hpp"

#include <redlock/config.hpp>
#include <redlock/status.hpp>

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

namespace redlock::cli {

// How many nodes of a set vote, and how many may fail before a majority of all is missing.
struct vote_count {
    std::size_t votes{0};
    std::size_t all{0};

    std::size_t needed() const noexcept { return quorum::majority(all); }
    bool is_enough() const noexcept { return votes >= needed(); }
    std::size_t spare() const noexcept { return is_enough() ? votes - needed() : 0; }
    std::string text() const;  // "2 of 3 nodes vote"
};

// What a client with this configuration, which locks nothing, sees of its nodes when each of them has voted or said why not, or after `timeout`.
std::vector<node_status> look_as_a_client(config settings, bool with_tokens, std::chrono::milliseconds timeout);

// The finding that nobody can acquire a lock, in which shards, and why; or that no further node may fail. None: neither is so. No I/O.
std::vector<finding> judge_votes(std::vector<node_status> const& nodes, bool with_tokens);

}  // namespace redlock::cli

#endif
