// Asks all nodes something once, while other work goes on. session uses it to say who holds the lock that it waits for.
#ifndef REDLOCK_CLI_SERVERS_GLANCE_HPP
#define REDLOCK_CLI_SERVERS_GLANCE_HPP

#include "cli/servers/node_link.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace redlock::cli {

constexpr std::chrono::milliseconds glance_timeout{500};  // what a user may wait for an explanation

class glance {
public:
    using handler = std::function<void(std::vector<answers>)>;

    // Starts to connect and to ask the same of all nodes. Calls `done` once, on `executor`, when all nodes have answered or failed.
    // `timeout` limits connecting, and once more the answers, so that takes at most twice as long. Destroying this object ends it without a
    // call.
    glance(asio::any_io_executor executor, config settings, std::vector<words> const& questions, std::chrono::milliseconds timeout,
           handler done);
    glance(glance const&) = delete;
    glance& operator=(glance const&) = delete;
    ~glance();

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace redlock::cli

#endif
