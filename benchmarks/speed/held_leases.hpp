// Many leases of one client, acquired by some callers and then held.
#ifndef REDLOCK_BENCHMARKS_SPEED_HELD_LEASES_HPP
#define REDLOCK_BENCHMARKS_SPEED_HELD_LEASES_HPP

#include "run.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/io_context.hpp>

#include <cstddef>
#include <vector>

namespace bench {

class held_leases {
public:
    /// Connects. Lease i is of the lock what.key(i).
    held_leases(workload const& what, redlock::config const& settings, bool auto_extend, std::size_t leases);

    /// Acquires the first `count`.
    void acquire(std::size_t count);

    /// Ends all leases. Throws `std::runtime_error` unless all nodes have answered.
    void release();

    std::size_t size() const noexcept { return leases_.size(); }
    std::vector<redlock::lease> const& leases() const noexcept { return leases_; }
    asio::io_context& io() noexcept { return io_; }
    redlock::client const& client() const noexcept { return client_; }

private:
    asio::awaitable<void> take();

    workload const& what_;
    redlock::lock_options options_;
    asio::io_context io_{1};
    redlock::client client_;
    std::vector<redlock::lease> leases_;
    std::size_t next_{0};
    std::size_t count_{0};
    std::size_t missing_{0};
};

}  // namespace bench

#endif
