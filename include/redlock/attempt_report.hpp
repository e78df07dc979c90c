// The answers of all nodes to an attempt: why a lock was not acquired.
#ifndef REDLOCK_ATTEMPT_REPORT_HPP
#define REDLOCK_ATTEMPT_REPORT_HPP

#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>
#include <redlock/lock_mode.hpp>

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace redlock {

/// A node's answer to one request.
enum class vote : std::uint8_t {
    pending,  ///< No answer yet.
    granted,  ///< The node executed the request.
    refused,  ///< Another holder has the key on this node.
    failed,   ///< The outcome is unknown: no connection, no answer in time, or an error.
};

/// The vote of one node, and the reason for it.
struct node_verdict {
    std::string node;                       ///< The node's address, as in the configuration, without credentials.
    redlock::vote vote{vote::pending};  ///< Its vote when the attempt was decided.
    error_code error;                       ///< Why the vote failed; no error for the other votes.
    std::string detail;  ///< The reason in words; the server's own if it answered with an error.
    std::chrono::microseconds answered_after{};  ///< From the start of the round to the answer; 0 without an answer.
};

/// The last attempt of an `acquire()` or `try_acquire()`.
///
/// The operation fills the report just before it completes, whether it succeeds or fails, and does not access it at any other time.
struct attempt_report {
    error_code outcome;  ///< How the last attempt ended. The operation may complete with another error.
    std::uint32_t attempts{0};             ///< How many attempts the operation made.
    std::chrono::microseconds elapsed{};   ///< From the start of the operation to its end.
    std::vector<node_verdict>
        nodes;  ///< One for each node of the lock's shard, in the order of the configuration; empty if the acquisition succeeded without
        ///< asking the nodes.
    lock_mode mode{lock_mode::exclusive};  ///< The mode asked for.
};

/// The first node whose vote failed, and the reason, on one line: `10.0.0.1:6379: no usable connection to the node [Connection refused]`.
/// If there is none, the first node that did not answer. Empty if all have voted.
REDLOCK_API std::string first_failure(attempt_report const& report);

/// The enumerator's name.
REDLOCK_API char const* to_string(vote v) noexcept;

/// Writes the enumerator's name.
REDLOCK_API std::ostream& operator<<(std::ostream& out, vote v);

/// Writes one line for the outcome and one for each node.
REDLOCK_API std::ostream& operator<<(std::ostream& out, attempt_report const& report);

}  // namespace redlock

#endif
