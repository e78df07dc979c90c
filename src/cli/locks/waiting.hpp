// Texts that tell the user of `redlock run` why the lock is not acquired yet, or was not. No I/O.
#ifndef REDLOCK_CLI_LOCKS_WAITING_HPP
#define REDLOCK_CLI_LOCKS_WAITING_HPP

#include "cli/locks/lock_view.hpp"

#include <redlock/attempt_report.hpp>
#include <redlock/clock.hpp>
#include <redlock/status.hpp>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>

namespace redlock::cli {

// `waiting for job for 3.0 s: it is held by web-3, process 4711, since ...`. `lock` is a recent view of the keys on the nodes. If nobody holds the
// lock, if that could not be read, or if too few nodes have a vote for a majority, the text lists the nodes without a vote and the reasons.
std::string waiting_in_words(lock_view const& lock, client_status const& nodes, bool fencing, std::chrono::nanoseconds waited);

// A text that is another one when the reason is: others hold the lock, or other nodes have no vote. Nobody reads it.
std::string reason_to_wait(lock_view const& lock, client_status const& nodes, bool fencing);
// The same for the nodes alone; empty: a majority has a vote.
std::string reason_of_nodes(client_status const& nodes, bool fencing, std::size_t majority);

// What a user was told last. It is told again when the reason is another one, and each minute.
class told_reason {
public:
    static constexpr std::chrono::seconds again{60};

    // True: it is to be told now.
    bool is_due(std::string reason, boot_clock::time_point now);

private:
    std::optional<std::string> reason_;
    boot_clock::time_point at_{};
};

// How many nodes have a vote.
std::size_t count_voting(client_status const& nodes, bool fencing);

// The nodes without a vote, one a line, with the reasons; empty: all have one.
std::string nodes_without_vote(client_status const& nodes, bool fencing);

// Why a lock was not acquired.
std::string failure_in_words(error_code why, client_status const& nodes, bool fencing);

// `job is held by web-3, process 4711, since ...`. With `all_the_time` the text adds that the lock was not free during all of --wait.
std::string contended_in_words(lock_view const& lock, bool all_the_time);

// The nodes that gave no vote, one a line, with the reasons. Leaves out nodes whose answers were still to come when the votes of the others decided.
std::string silent_nodes_in_words(attempt_report const& report, client_status const& nodes, bool fencing);

}  // namespace redlock::cli

#endif
