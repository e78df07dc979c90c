#include "cli/servers/cluster_routes.hpp"

#include "cli/servers/cluster_report.hpp"
#include "node/connection/node_address.hpp"

#include <boost/asio/post.hpp>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace redlock::cli {

namespace {

reply error_reply(std::string words)
{
    reply r;
    r.type = reply::kind::error;
    r.text = std::move(words);
    return r;
}

// The answers of all primaries, in the order of the commands.
struct joined_answers {
    answers all;
    std::size_t awaited{0};
    node_link::handler done;

    void take(std::vector<std::size_t> const& places, answers const& some)
    {
        all.asked = some.asked;
        all.took = std::max(all.took, some.took);
        for (std::size_t i = 0; i < places.size(); ++i) {
            reply& to = all.replies[places[i]];
            to = some.ok() ? some.replies[i] : error_reply(some.problem);
            if (to.is_error() && detail::redirection_in(to.text) != detail::redirection::none) to.text = detail::explained(to.text);
        }
    }
    void one_has_ended()
    {
        if (--awaited == 0) std::exchange(done, nullptr)(std::move(all));
    }
};

}  // namespace

std::optional<std::size_t> shard_in(words const& command)
{
    for (std::string_view word : command)
        if (auto const shard = detail::take_shard_off(word)) return shard;
    return std::nullopt;
}

cluster_routes::cluster_routes(asio::any_io_executor executor, node_address cluster, config settings)
    : executor_{std::move(executor)}, cluster_{std::move(cluster)}, settings_{std::move(settings)}
{
}

void cluster_routes::find_primaries(std::chrono::milliseconds timeout)
{
    auto only_this = settings_;
    only_this.nodes = {cluster_};
    auto report = std::move(examine_clusters(only_this, timeout).front());
    problem_ = report.said.why ? report.said.words : "";
    if (report.said.why) return;
    map_ = std::move(report.said.map);
    std::set<std::string> all;
    for (std::size_t shard = 0; shard < cluster_.cluster->shards; ++shard) {
        auto const* const owner = map_.owner_of(detail::slot_of_shard(shard));
        if (owner == nullptr) problem_ = "no server has the slot of shard " + std::to_string(shard);
        else all.insert(host_and_port(owner->host, owner->port));
    }
    primaries_.assign(all.begin(), all.end());
    std::erase_if(links_, [&](auto const& link) { return !all.contains(link.first); });
}

std::optional<std::size_t> cluster_routes::primary_of(std::size_t shard) const
{
    auto const* const owner = map_.owner_of(detail::slot_of_shard(shard));
    if (owner == nullptr) return std::nullopt;
    auto const found = std::find(primaries_.begin(), primaries_.end(), host_and_port(owner->host, owner->port));
    return found == primaries_.end() ? std::nullopt : std::optional{static_cast<std::size_t>(found - primaries_.begin())};
}

node_link& cluster_routes::link_to(std::string const& primary)
{
    auto const known = links_.find(primary);
    if (known != links_.end()) return known->second;
    auto const is_it = [&](detail::cluster_server const& s) { return s.primary && host_and_port(s.host, s.port) == primary; };
    auto const& server = *std::find_if(map_.servers.begin(), map_.servers.end(), is_it);
    node_address address = completed(cluster_, settings_.tls);
    address.cluster.reset();
    address.host = address.tls && !server.name.empty() ? server.name : server.host;
    address.port = server.port;
    return links_.emplace(primary, node_link{executor_, address, settings_}).first->second;
}

void cluster_routes::ask(std::vector<words> const& commands, std::chrono::milliseconds patience, node_link::handler done)
{
    auto const result = std::make_shared<joined_answers>();
    result->all.replies.resize(commands.size());
    result->done = std::move(done);
    std::vector<std::vector<words>> parts(primaries_.size());
    std::vector<std::vector<std::size_t>> places(primaries_.size());
    std::optional<std::size_t> to;
    for (std::size_t i = 0; i < commands.size(); ++i) {
        if (auto const shard = shard_in(commands[i])) to = primary_of(*shard);
        if (!to) {
            result->all.replies[i] = error_reply(problem_.empty() ? "no server of the cluster has its slot" : problem_);
            continue;
        }
        parts[*to].push_back(commands[i]);
        places[*to].push_back(i);
    }
    result->awaited = 1;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        if (parts[p].empty()) continue;
        ++result->awaited;
        ask_primary(p, parts[p], patience, [result, where = std::move(places[p])](answers const& some) {
            result->take(where, some);
            result->one_has_ended();
        });
    }
    asio::post(executor_, [result] { result->one_has_ended(); });
}

void cluster_routes::ask_primary(std::size_t which, std::vector<words> const& commands, std::chrono::milliseconds patience,
                                 node_link::handler done)
{
    link_to(primaries_[which]).ask(commands, patience, std::move(done));
}

void cluster_routes::close()
{
    for (auto& [primary, link] : links_) link.close();
}

}  // namespace redlock::cli
