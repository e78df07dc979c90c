// The parent's side of the worker processes.
#ifndef REDLOCK_DEMO_CREW_HPP
#define REDLOCK_DEMO_CREW_HPP

#include "shared_board.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include <sys/types.h>

namespace demo {

// Forks the workers; none of them outlives this object, nor the parent process.
//
// Preconditions: this process has no threads and no event loop yet, since neither survives a fork in a usable state.
class crew {
public:
    crew(board& shared, std::vector<std::string> const& node_urls);  // throws std::system_error
    crew(crew const&) = delete;
    crew& operator=(crew const&) = delete;
    ~crew() { end_all(); }

    // Looks for workers that have ended. Says for each that failed how it did.
    std::vector<std::string> find_failed();

    std::size_t running() const noexcept;
    bool all_succeeded() const noexcept { return running() == 0 && !failed_; }

private:
    void end_all() noexcept;

    board& board_;
    std::array<pid_t, worker_count> pids_{};  // 0: has ended
    bool failed_{false};
};

}  // namespace demo

#endif
