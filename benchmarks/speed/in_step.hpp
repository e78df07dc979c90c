// Client and servers in step, so that a run is like the one before: how many commands share a message depends on who is faster otherwise.
//
// A relay stands between them, a process of its own. At first it passes on everything at once. From the first next() on it keeps what the client
// sends, until next() is called again: then the servers get all of it, and the client gets all answers together. What a server pushes unasked goes with
// the answers.
#ifndef REDLOCK_BENCHMARKS_SPEED_IN_STEP_HPP
#define REDLOCK_BENCHMARKS_SPEED_IN_STEP_HPP

#include "support.hpp"

#include <cstddef>
#include <optional>
#include <string_view>

namespace bench {

/// Counts messages of RESP2 and RESP3 in bytes that come in pieces of any size. A command is a message, too.
class resp_counter {
public:
    /// Throws at what is no RESP.
    void take(std::string_view piece);

    std::size_t messages() const noexcept { return messages_; }  ///< That have ended; pushes are not counted.
    bool between_messages() const noexcept { return open_.empty() && text_left_ == 0 && line_.empty(); }

private:
    void on_line();
    void end_element();

    std::vector<std::size_t> open_;  // how many elements are missing, of each level
    std::string line_;
    std::size_t text_left_{0};
    std::size_t messages_{0};
    bool push_{false};
};

/// The client's end of it.
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
