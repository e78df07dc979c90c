// The client's nodes: real Redis servers.
#include <redlock/client.hpp>

#include "core/basic_core.hpp"
#include "node/redis_node.hpp"

#include <boost/asio/strand.hpp>

#include <random>

namespace redlock {

namespace {

std::shared_ptr<detail::core> make_core(asio::any_io_executor executor, config const& configuration)
{
    configuration.validate();
    asio::strand<asio::any_io_executor> const strand{executor};
    std::vector<std::unique_ptr<detail::node>> nodes;
    for (node_address const& address : configuration.nodes)
        nodes.push_back(std::make_unique<detail::redis_node>(strand, address, configuration));
    detail::engine_settings const settings{configuration.node_queue_max, detail::random_value, std::random_device{}()};
    return detail::basic_core<boot_clock>::make(std::move(executor), strand, std::move(nodes), settings);
}

}  // namespace

client::client(asio::any_io_executor executor, config const& configuration)
    : core_{make_core(std::move(executor), configuration)}
{
}

}  // namespace redlock
