// What the core tells a handler that throws errors, besides the code.
#ifndef REDLOCK_DETAIL_FAILURE_NOTES_HPP
#define REDLOCK_DETAIL_FAILURE_NOTES_HPP

#include <redlock/attempt_report.hpp>

#include <memory>
#include <string>

namespace redlock::detail {

struct failure_note {
    std::string lock;  // where the handler does not know it: of a ticket, of an acquisition
    std::string reason;
    attempt_report last_attempt{};  // of an acquisition
};

// Null until something is said: most operations succeed.
using failure_notes = std::unique_ptr<failure_note>;

}  // namespace redlock::detail

#endif
