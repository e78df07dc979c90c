// What each node said to an attempt: for logs, and for finding out why a lock could not be had.
#ifndef REDLOCK_ATTEMPT_REPORT_HPP
#define REDLOCK_ATTEMPT_REPORT_HPP

#include <redlock/detail/export.hpp>
#include <redlock/error.hpp>

#include <chrono>
#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

namespace redlock {

/// A node's answer to one request.
enum class vote : std::uint8_t {
    pending,  ///< No answer yet.
    granted,  ///< The node did what was asked.
    refused,  ///< The node works, and somebody else holds the key there.
    failed,   ///< It cannot be known: no connection, no answer in time, or an error.
};

/// The vote of one node and what is behind it.
struct node_verdict {
    std::string node;                       ///< The node's address, as in the configuration, without credentials.
    redlock::vote vote{vote::pending};      ///< Its vote when the attempt was decided.
    error_code error;                       ///< Why it failed; no error for the other votes.
    std::string detail;                     ///< The server's own words, when it answered with an error.
    std::chrono::microseconds answered_after{};  ///< From the start of the round to the answer; 0 without one.
};

/// The last attempt of an `acquire()` or `try_acquire()`.
///
/// Filled just before the operation completes, with whatever outcome; not touched before or after.
struct attempt_report {
    error_code outcome;                    ///< How the last attempt ended (not the operation: see its own error).
    std::uint32_t attempts{0};             ///< How many attempts the operation made.
    std::chrono::microseconds elapsed{};   ///< From the start of the operation to its end.
    std::vector<node_verdict> nodes;       ///< One a node, in the order of the configuration.
};

/// The first node that did not vote, and why: `10.0.0.1:6379: no usable connection to the node [Connection refused]`, on one line. Empty: there is none.
REDLOCK_API std::string first_failure(attempt_report const& report);

/// The enumerator's name.
REDLOCK_API char const* to_string(vote v) noexcept;

/// The same, to a stream.
REDLOCK_API std::ostream& operator<<(std::ostream& out, vote v);

/// One line for the outcome and one for each node.
REDLOCK_API std::ostream& operator<<(std::ostream& out, attempt_report const& report);

}  // namespace redlock

#endif
