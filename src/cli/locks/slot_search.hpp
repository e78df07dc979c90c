// Finds out which of the locks that a search has found are slots of semaphores, for `redlock list`: they are shown together.
#ifndef REDLOCK_CLI_LOCKS_SLOT_SEARCH_HPP
#define REDLOCK_CLI_LOCKS_SLOT_SEARCH_HPP

#include "cli/locks/lock_search.hpp"

namespace redlock::cli {

// Moves the slots from `locks` to `semaphores`, by name. A lock that only has such a name stays: a node must keep a number of permits.
void gather_slots(server_group& nodes, search_result& found);

}  // namespace redlock::cli

#endif
