// Tells the board what a worker's client says about each node: whether it may vote, and if not, why.
#ifndef REDLOCK_DEMO_NODE_REPORTER_HPP
#define REDLOCK_DEMO_NODE_REPORTER_HPP

#include "shared_board.hpp"

#include <redlock/status.hpp>

#include <cstddef>
#include <vector>

namespace demo {

class node_reporter {
public:
    node_reporter(board& shared, std::size_t worker) : board_{shared}, worker_{worker} {}

    // To be called often: what comes and goes between two calls is not seen.
    void report(std::vector<redlock::node_status> const& nodes);

private:
    void tell(std::size_t node, redlock::node_status const& status);

    board& board_;
    std::size_t worker_;
};

}  // namespace demo

#endif
