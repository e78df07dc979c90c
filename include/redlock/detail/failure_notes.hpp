// What the core tells a handler that throws errors, besides the code.
#ifndef REDLOCK_DETAIL_FAILURE_NOTES_HPP
#define REDLOCK_DETAIL_FAILURE_NOTES_HPP

#include <string>

namespace redlock::detail {

struct failure_notes {
    std::string lock;  // where only the core knows it: of a ticket
    std::string reason;
};

}  // namespace redlock::detail

#endif
