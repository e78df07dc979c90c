// A node that is one shard of a Redis Cluster: it is on the primary that has the shard's slot, and follows migrations and failovers. The nodes of all
// shards share a cluster_link.
#ifndef REDLOCK_NODE_CLUSTER_CLUSTER_NODE_HPP
#define REDLOCK_NODE_CLUSTER_CLUSTER_NODE_HPP

#include "node/node.hpp"

#include <redlock/config.hpp>

#include <boost/asio/any_io_executor.hpp>

#include <cstddef>
#include <memory>
#include <string>

namespace redlock::detail {

class cluster_link;

class cluster_node final : public node {
public:
    cluster_node(asio::any_io_executor strand, std::shared_ptr<cluster_link> link, std::size_t shard, config const& settings);
    ~cluster_node() override;

    std::string const& name() const noexcept override;
    void start(std::size_t index, std::weak_ptr<node_listener> listener) override;
    void stop() override;
    void reject(error_code why, std::string words) override;
    void exec(batch const& work, std::string_view id, std::vector<reply>& replies, exec_handler handler) override;

private:
    class impl;
    std::shared_ptr<impl> impl_;
};

}  // namespace redlock::detail

#endif
