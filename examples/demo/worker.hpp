// One process of the demo: an event loop, a client, and coroutines that want the same locks as those of the other processes.
#ifndef REDLOCK_DEMO_WORKER_HPP
#define REDLOCK_DEMO_WORKER_HPP

#include "shared_board.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace demo {

// Runs until the board says that it is time to finish. Returns the exit code of the process.
int run_worker(board& shared, std::size_t worker, std::vector<std::string> const& node_urls) noexcept;

}  // namespace demo

#endif
