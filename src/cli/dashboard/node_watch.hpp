// Asks each node again and again how it is, for `redlock dashboard`: its answer to TIME tells how long it takes and what its clock shows, its facts
// whether it may vote. Writes nothing to the nodes. A node that does not answer keeps no other one waiting.
#ifndef REDLOCK_CLI_DASHBOARD_NODE_WATCH_HPP
#define REDLOCK_CLI_DASHBOARD_NODE_WATCH_HPP

#include "cli/doctor/facts.hpp"

#include <redlock/config.hpp>

#include <boost/asio/io_context.hpp>

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>

namespace redlock {
namespace asio = boost::asio;
}

namespace redlock::cli {

class node_watch {
public:
    // `probe`: node, problem or info, record, has_high_water, info_refused, and one sample of the clock.
    using handler = std::function<void(std::size_t node, doctor_probe const& probe)>;

    // Calls `tell` on `io` after each look at a node. `timeout`: for connecting, and for each answer.
    node_watch(asio::io_context& io, config const& settings, std::chrono::milliseconds interval, std::chrono::milliseconds timeout,
               handler tell);
    node_watch(node_watch const&) = delete;
    node_watch& operator=(node_watch const&) = delete;
    ~node_watch();

private:
    struct watched;
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace redlock::cli

#endif
