// Servers of one kind, and a client that reaches them in a way of its own: with TLS, as a user, over a socket.
#ifndef REDLOCK_TESTS_INTEGRATION_ONE_CLIENT_HPP
#define REDLOCK_TESTS_INTEGRATION_ONE_CLIENT_HPP

#include "cluster.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace redlock::testing {

using way_to = std::function<node_address(redis_server const&)>;

/// The client of the story reaches each server in this way.
class cluster_reached : public cluster {
public:
    cluster_reached(std::size_t size, redis_server_options const& options, way_to const& way, config settings = quick_config(),
                    beginning how = beginning::admitted);

    /// Another client that reaches them in the same way, running. It must be cancelled or destroyed by the story.
    std::unique_ptr<redlock::client> another();

    /// A lock is acquired, extended and released on all nodes.
    void expect_locks();

    /// No node becomes usable, for this reason; the first one's words hold this.
    void expect_failure(errc why, std::string_view words);

    /// Inside a story.
    asio::awaitable<void> lock_everywhere(std::string name = "r");
    asio::awaitable<void> fail(errc why, std::string_view words);

    node_status first() const { return nodes.status().nodes.at(0); }

private:
    config reached_;
};

}  // namespace redlock::testing

#endif
