// A look at what the nodes hold under a lock's name, while something else goes on.
#ifndef REDLOCK_CLI_GLANCE_HPP
#define REDLOCK_CLI_GLANCE_HPP

#include "cli/lock_view.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace redlock::cli {

class glance {
public:
    using handler = std::function<void(lock_view)>;

    // Calls `done` once, from the executor, after `patience` for connecting and as much for the answers at the latest; not once this object
    // is gone.
    glance(asio::any_io_executor executor, config settings, std::string const& name, std::chrono::milliseconds patience, handler done);
    glance(glance const&) = delete;
    glance& operator=(glance const&) = delete;
    ~glance();

private:
    struct state;
    std::shared_ptr<state> state_;
};

}  // namespace redlock::cli

#endif
