// Turns what the scripts of semaphores answer into replies. No I/O.
#ifndef REDLOCK_REDIS_SEMAPHORE_REPLIES_HPP
#define REDLOCK_REDIS_SEMAPHORE_REPLIES_HPP

#include "redis/node.hpp"

#include <string_view>

namespace redlock::detail {

// Of semaphore_acquire_script().
reply to_permits(std::string_view text);

// Of semaphore_keep_script() and semaphore_inspect_script().
reply to_number_of_permits(verb of, std::string_view text);

}  // namespace redlock::detail

#endif
