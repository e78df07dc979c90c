// What the workers do, each in a process of its own on a processor of its own.
#ifndef REDLOCK_BENCHMARKS_SPEED_WORKLOAD_HPP
#define REDLOCK_BENCHMARKS_SPEED_WORKLOAD_HPP

#include "meter.hpp"
#include "support.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// Callers that acquire and release all the time, each a name of its own.
struct workload {
    ports at;
    std::vector<std::string> ids;  ///< Of the servers, as they were admitted; for the floors' fenced scripts.
    std::size_t callers{256};
    bool fencing{false};
    std::chrono::milliseconds ttl{10'000};
    std::chrono::nanoseconds warm_up{300ms};
    std::chrono::nanoseconds measured{2s};

    std::size_t names{1};                    ///< Of each caller, taken in turn.
    std::chrono::nanoseconds stagger{};      ///< Caller i begins i times this later, so that they do not go in step.

    std::string key(std::size_t caller, std::size_t name = 0) const;
};

/// Three workers that do the same.
sample run_epoll_floor(workload const& what);  ///< Raw non-blocking sockets and epoll, no library.
sample run_asio_floor(workload const& what);   ///< The same over Asio's sockets.
sample run_ours(workload const& what);         ///< Coroutines on an io_context, with this library.

/// A fleet on processors that its clients do not use, which knows the scripts and has admitted its nodes.
class testbed {
public:
    explicit testbed(std::size_t nodes);

    fleet const& servers() const noexcept { return servers_; }
    redlock::testing::redis_server& operator[](std::size_t i) { return servers_[i]; }
    workload work(std::size_t callers, bool fencing) const;

private:
    fleet servers_;
    std::vector<std::string> ids_;
};

/// The one processor for clients; -1 where this machine has only one.
int client_processor();

/// Runs it in a process of its own, on the clients' processor.
sample run_apart(std::function<sample()> const& body);

}  // namespace bench

#endif
