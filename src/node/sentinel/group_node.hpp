// A node that is a group: a primary and its replicas, watched by Sentinels. It finds the primary, is a redis_node there, and follows failovers.
#ifndef REDLOCK_NODE_SENTINEL_GROUP_NODE_HPP
#define REDLOCK_NODE_SENTINEL_GROUP_NODE_HPP

#include "node/node.hpp"

#include <redlock/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <memory>
#include <string>

namespace redlock::detail {

class group_node final : public node {
public:
    // `group` has `sentinel`.
    group_node(asio::any_io_executor strand, node_address const& group, config const& settings);
    ~group_node() override;

    std::string const& name() const noexcept override;
    bool is_group() const noexcept override { return true; }
    void start(std::size_t index, std::weak_ptr<node_listener> listener) override;
    void stop() override;
    void reject(error_code why, std::string words) override;
    void check_address() override;
    void exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler) override;

private:
    class impl;
    std::shared_ptr<impl> impl_;
};

// The address of a server of a group, for a connection to it: with the group's user, password and TLS. `replicas`: for how many its votes wait.
node_address server_of(node_address group, std::string const& host, std::uint16_t port, std::uint16_t replicas);

}  // namespace redlock::detail

#endif
