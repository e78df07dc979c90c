// Runs a function in a forked process, for measurements in several processes.
#ifndef REDLOCK_BENCHMARKS_FORKED_HPP
#define REDLOCK_BENCHMARKS_FORKED_HPP

#include <functional>
#include <utility>

#include <sys/types.h>

namespace bench {

/// A process that is forked from this one, and calls a function. Killed by the destructor. Precondition: this process has one thread.
class forked {
public:
    explicit forked(std::function<void()> const& body);
    forked(forked&& other) noexcept : pid_{std::exchange(other.pid_, 0)} {}
    ~forked();

    /// Waits for its end. Throws unless it succeeded.
    void join();

private:
    pid_t pid_;
};

}  // namespace bench

#endif
