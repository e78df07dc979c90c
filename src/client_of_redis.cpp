// The client's nodes: real Redis servers.
#include <redlock/client.hpp>

#include "core/basic_core.hpp"
#include "core/holder_info.hpp"
#include "node/redis_node.hpp"

#include <boost/asio/strand.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <random>

namespace redlock {

namespace {

// Set by an operator or a time server, so it may be wrong: what depends on it says so.
std::uint64_t wall_clock()
{
    auto const since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count()));
}

std::shared_ptr<detail::core> make_core(asio::any_io_executor executor, config const& configuration)
{
    configuration.validate();
    asio::strand<asio::any_io_executor> const strand{executor};
    std::vector<std::unique_ptr<detail::node>> nodes;
    for (node_address const& address : configuration.nodes)
        nodes.push_back(std::make_unique<detail::redis_node>(strand, address, configuration));
    detail::engine_settings settings;
    settings.node_queue_max = configuration.node_queue_max;
    settings.fresh_value = [mark = detail::holder_mark{detail::this_process(configuration.label)}] {
        return detail::random_value() + mark.text(wall_clock() / 1'000'000);
    };
    settings.fresh_mark = detail::random_value;
    settings.jitter_seed = std::random_device{}();
    settings.wall_clock = wall_clock;
    settings.max_ttl = configuration.max_ttl;
    settings.token_retention = configuration.token_retention;
    settings.fresh = configuration.fresh;
    return detail::basic_core<boot_clock>::make(std::move(executor), strand, std::move(nodes), settings);
}

}  // namespace

client::client(asio::any_io_executor executor, config const& configuration)
    : core_{make_core(std::move(executor), configuration)}
{
}

}  // namespace redlock
