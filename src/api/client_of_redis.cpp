// The client's nodes: real Redis servers.
#include <redlock/client.hpp>

#include "admission/quarantine_folder.hpp"
#include "base/start_inline.hpp"
#include "base/strand.hpp"
#include "client/basic_core.hpp"
#include "lease/holder_info.hpp"
#include "lease/random_value.hpp"
#include "redis/group_node.hpp"
#include "redis/node_address.hpp"
#include "redis/redis_node.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <ctime>
#include <random>
#include <utility>

namespace redlock {

namespace {

// Set by an operator or a time server, so it may be wrong: what depends on it says so.
std::uint64_t wall_clock()
{
    auto const since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count()));
}

std::shared_ptr<detail::core> make_core(asio::any_io_executor executor, config const& configuration,
                                        std::shared_ptr<redlock::observer> observer)
{
    configuration.validate();
    asio::any_io_executor const strand = detail::make_client_strand(executor, configuration.implicit_strand);
    std::vector<std::unique_ptr<detail::node>> nodes;
    for (node_address const& address : configuration.nodes) {
        auto const whole = completed(address, configuration.tls);
        if (whole.sentinel) nodes.push_back(std::make_unique<detail::group_node>(strand, whole, configuration));
        else nodes.push_back(std::make_unique<detail::redis_node>(strand, whole, configuration));
    }
    detail::engine_settings settings;
    settings.max_node_queue = configuration.max_node_queue;
    auto const random = std::make_shared<detail::random_values>();
    settings.fresh_value = [random, mark = detail::holder_mark{detail::this_process(configuration.label)}]() mutable {
        auto const since = static_cast<std::uint64_t>(std::max<std::time_t>(0, std::time(nullptr)));
        return detail::lock_value{random->next(), mark.at(since)};
    };
    settings.fresh_mark = detail::random_value;
    settings.jitter_seed = std::random_device{}();
    settings.wall_clock = wall_clock;
    settings.max_ttl = configuration.max_ttl;
    settings.token_retention = configuration.token_retention;
    settings.bootstrap = configuration.bootstrap;
    if (auto const& folder = configuration.quarantine_folder; !folder.empty())
        settings.quarantines = std::make_shared<detail::quarantine_folder>(folder);
    settings.keys = detail::key_format{configuration.key_format};
    settings.run_here = detail::start_inline(strand);
    if (auto const* const plain = executor.target<asio::io_context::executor_type>(); plain && configuration.implicit_strand)
        settings.single = &plain->context();
    settings.observer = std::move(observer);
    settings.log = configuration.log;
    return detail::basic_core<boot_clock>::make(std::move(executor), strand, std::move(nodes), settings);
}

}  // namespace

client::client(asio::any_io_executor executor, config const& configuration, std::shared_ptr<redlock::observer> observer)
    : core_{make_core(std::move(executor), configuration, std::move(observer))}
{
}

}  // namespace redlock
