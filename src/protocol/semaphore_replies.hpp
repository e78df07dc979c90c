// Turns what the scripts of semaphores answer into replies. No I/O.
#ifndef REDLOCK_PROTOCOL_SEMAPHORE_REPLIES_HPP
#define REDLOCK_PROTOCOL_SEMAPHORE_REPLIES_HPP

#include "protocol/reply.hpp"
#include "protocol/verb.hpp"

#include <string_view>

namespace redlock::detail {

// The reply for an answer of semaphore_acquire_script().
reply to_permits(std::string_view text);

// The reply for an answer of semaphore_keep_script() or semaphore_inspect_script(), whichever `of` is sent with.
reply to_number_of_permits(verb of, std::string_view text);

}  // namespace redlock::detail

#endif
