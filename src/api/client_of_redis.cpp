// The client's nodes: real Redis servers.
#include <redlock/client.hpp>

#include "base/start_inline.hpp"
#include "base/strand.hpp"
#include "client/basic_core.hpp"
#include "client/sharded_core.hpp"
#include "core/admission/quarantine_folder.hpp"
#include "core/lease/holder_info.hpp"
#include "core/random_value.hpp"
#include "node/cluster/cluster_link.hpp"
#include "node/cluster/cluster_node.hpp"
#include "node/connection/node_address.hpp"
#include "node/redis_node.hpp"
#include "node/sentinel/group_node.hpp"
#include "quorum/sets/set_record.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace redlock {

namespace {

// Set by an operator or a time server, so it may be wrong: what depends on it says so.
std::uint64_t wall_clock()
{
    auto const since_1970 = std::chrono::system_clock::now().time_since_epoch();
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::microseconds>(since_1970).count()));
}

struct node_list {
    std::vector<std::unique_ptr<detail::node>> nodes;
    std::vector<std::string> members{};  // what the record of their set calls them; empty: there is no such record
};

node_list make_nodes(asio::any_io_executor const& strand, std::vector<node_address> const& addresses, config const& configuration)
{
    node_list made;
    for (node_address const& address : addresses) {
        auto const whole = completed(address, configuration.tls);
        if (whole.sentinel) made.nodes.push_back(std::make_unique<detail::group_node>(strand, whole, configuration));
        else made.nodes.push_back(std::make_unique<detail::redis_node>(strand, whole, configuration));
        made.members.push_back(quorum::member_name(member_address(address)));
    }
    return made;
}

// The core of one set of nodes. All cores of a client have the same strand.
std::shared_ptr<detail::core> make_core(asio::any_io_executor executor, asio::any_io_executor const& strand, node_list set,
                                        config const& configuration, std::shared_ptr<redlock::observer> observer)
{
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
    settings.recovers = configuration.after_majority_loss == majority_loss::recover;
    settings.trust_uptime = configuration.trust_uptime && !configuration.trust_server_identity;
    if (auto const& folder = configuration.quarantine_folder; !folder.empty())
        settings.quarantines = std::make_shared<detail::quarantine_folder>(folder);
    settings.keys = detail::key_format{configuration.key_format};
    settings.sets.members = std::move(set.members);
    settings.sets.name = configuration.set_name;
    if (configuration.place && configuration.place->shards > 1) {  // one shard is as good as none
        settings.sets.shard = configuration.place->shard;
        settings.sets.shards = configuration.place->shards;
    }
    settings.run_here = detail::start_inline(strand);
    if (auto const* const plain = executor.target<asio::io_context::executor_type>(); plain && configuration.implicit_strand)
        settings.single = &plain->context();
    settings.observer = std::move(observer);
    settings.log = configuration.log;
    return detail::basic_core<boot_clock>::make(std::move(executor), strand, std::move(set.nodes), settings);
}

std::shared_ptr<detail::core> make_core(asio::any_io_executor const& executor, config const& configuration,
                                        std::shared_ptr<redlock::observer> observer)
{
    configuration.validate();
    asio::any_io_executor const strand = detail::make_client_strand(executor, configuration.implicit_strand);
    if (configuration.shards.empty() && !configuration.nodes.front().cluster)
        return make_core(executor, strand, make_nodes(strand, configuration.nodes, configuration), configuration, std::move(observer));

    if (observer) observer = detail::one_at_a_time(std::move(observer), executor);
    std::vector<std::shared_ptr<detail::core>> shards;
    auto const add = [&](node_list set, std::size_t index, std::optional<shard_place> place) {
        config of_shard = configuration;
        of_shard.place = place;
        of_shard.log = detail::log_of_shard(configuration.log, index);
        shards.push_back(make_core(executor, strand, std::move(set), of_shard, observer));
    };
    auto const sets = configuration.shards.size();
    for (std::size_t s = 0; s < sets; ++s) add(make_nodes(strand, configuration.shards[s], configuration), s, shard_place{s, sets});
    if (!shards.empty()) return std::make_shared<detail::sharded_core>(std::move(shards));

    std::vector<std::shared_ptr<detail::cluster_link>> links;
    for (node_address const& cluster : configuration.nodes)
        links.push_back(std::make_shared<detail::cluster_link>(strand, completed(cluster, configuration.tls), configuration));
    auto const& only = configuration.place;
    for (std::size_t s = only ? only->shard : 0; s < (only ? only->shard + 1 : configuration.nodes.front().cluster->shards); ++s) {
        node_list set;
        for (auto const& link : links) set.nodes.push_back(std::make_unique<detail::cluster_node>(strand, link, s, configuration));
        add(std::move(set), s, std::nullopt);  // the cluster itself keeps the number of shards
    }
    return std::make_shared<detail::sharded_core>(std::move(shards), detail::sharded_core::admission::together);
}

}  // namespace

client::client(asio::any_io_executor executor, config const& configuration, std::shared_ptr<redlock::observer> observer)
    : core_{make_core(executor, configuration, std::move(observer))}
{
}

}  // namespace redlock
