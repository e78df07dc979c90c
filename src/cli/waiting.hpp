// Why a lock is not had, in words for those who wait for it. No I/O.
#ifndef REDLOCK_CLI_WAITING_HPP
#define REDLOCK_CLI_WAITING_HPP

#include "cli/lock_view.hpp"

#include <redlock/attempt_report.hpp>
#include <redlock/status.hpp>

#include <chrono>
#include <string>

namespace redlock::cli {

// Whoever holds it; what the nodes hold was looked at a moment ago. `waiting for job for 3.0 s: it is held by web-3, process 4711, since ...`
// If nobody does, or could have it anyway: which nodes have no vote, and why.
std::string waiting_in_words(lock_view const& lock, client_status const& nodes, bool fencing, std::chrono::nanoseconds waited);

// `job is held by web-3, process 4711, since ...`; `all_the_time`: and was while it was waited for.
std::string contended_in_words(lock_view const& lock, bool all_the_time);

// Nodes that have no vote, or gave none, and why, one a line. Those that nobody waited for, as it was decided without them, are not there.
std::string silent_nodes_in_words(attempt_report const& report, client_status const& nodes, bool fencing);

}  // namespace redlock::cli

#endif
