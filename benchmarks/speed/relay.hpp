// Client and servers in step, so that a run is like the one before. Without it, how many commands go out in one write depends on who is faster.
//
// A relay stands between them, a process of its own. At first it passes on everything at once. From the first next() on it keeps what the client
// sends, until next() is called again: then the servers get all of it, and the client gets all answers together. What a server pushes unasked goes with
// the answers.
#ifndef REDLOCK_BENCHMARKS_SPEED_RELAY_HPP
#define REDLOCK_BENCHMARKS_SPEED_RELAY_HPP

#include "fleet.hpp"
#include "forked.hpp"

#include <optional>

namespace bench {

/// The client's end of the line to a relay.
class step_line {
public:
    explicit step_line(int fd) noexcept : fd_{fd} {}

    /// Returns when everything that was sent is answered, and the answers are there to be read.
    void next() const;

    int fd() const noexcept { return fd_; }

private:
    int fd_;
};

/// One for each run of a worker.
class relay {
public:
    explicit relay(bench::ports const& servers);
    relay(relay const&) = delete;
    relay& operator=(relay const&) = delete;
    ~relay();

    bench::ports const& ports() const noexcept { return ports_; }  ///< In the servers' order.
    step_line line() const noexcept { return step_line{line_}; }

private:
    bench::ports ports_;
    int line_{-1};
    std::optional<forked> process_;
};

}  // namespace bench

#endif
