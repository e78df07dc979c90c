#include "cli/doctor/doctor_cluster.hpp"

#include "cli/output/text.hpp"
#include "node/connection/node_address.hpp"

#include <algorithm>
#include <cstddef>

namespace redlock::cli {

using detail::cluster_map;
using detail::cluster_server;

namespace {

std::string place_of(cluster_server const& s) { return redlock::host_and_port(s.host, s.port); }

std::string shards_of(cluster_server const& s, std::size_t shards)
{
    std::string text;
    for (std::size_t i = 0; i < shards; ++i)
        if (s.has(detail::slot_of_shard(i))) text += (text.empty() ? "" : " ") + std::to_string(i);
    return text.empty() ? "none" : text;
}

// k: how many replicas votes wait for.
std::size_t acknowledgements_of(node_address const& cluster, cluster_map const& map)
{
    return cluster.replicas > 0 ? cluster.replicas : map.acknowledgements();
}

void judge_replicas(std::vector<finding>& found, node_address const& cluster, cluster_report const& report)
{
    cluster_map const& map = report.said.map;
    auto const least = map.acknowledgements();
    auto const k = acknowledgements_of(cluster, map);
    auto const add = [&](severity is, std::string what, std::string remedy) {
        found.push_back({is, report.cluster, std::move(what), std::move(remedy)});
    };
    if (least == 0)
        return add(severity::danger, "no primary has a replica: a failover would lose every lock there, so that there are no votes",
                   "redis-cli --cluster add-node NEW host:port --cluster-slave, for each primary");
    if (k < least)
        add(severity::danger,
            "votes wait for k = " + std::to_string(k) + " replicas, and a majority of the largest group needs " + std::to_string(least),
            "leave replicas out, or write replicas=" + std::to_string(least));
    for (cluster_server const& s : map.servers) {
        if (!s.primary || s.slots.empty()) continue;
        auto const all = map.replicas_of(s);
        auto const up = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [](auto const* r) { return !r->failing; }));
        if (up < k)
            add(severity::danger,
                place_of(s) + " has " + count_of(up, "replica") + ", and votes wait for " + std::to_string(k) +
                    ": its shards have no votes",
                "start its replicas, or add one");
        else if (up == k)
            add(severity::note,
                place_of(s) + " has as many replicas as votes wait for (k = " + std::to_string(k) +
                    "): without one of them, or after a failover, its shards have no votes until it is back",
                "nothing has to be done; one more replica of each primary spares that pause");
    }
}

}  // namespace

std::string shard_lines(node_address const& cluster, cluster_map const& map)
{
    std::string text;
    for (cluster_server const& s : map.servers) {
        if (!s.primary || s.slots.empty()) continue;
        text += "  " + place_of(s) + (s.failing ? " (down)" : "") + ", replicas:";
        auto const replicas = map.replicas_of(s);
        for (auto const* const r : replicas) text += ' ' + place_of(*r) + (r->failing ? " (down)" : "");
        if (replicas.empty()) text += " none";
        text += "\n    shards: " + shards_of(s, cluster.cluster->shards) + '\n';
    }
    return text;
}

std::vector<finding> diagnose_cluster(node_address const& cluster, cluster_report const& report)
{
    std::vector<finding> found;
    auto const add = [&](severity is, std::string what, std::string remedy) {
        found.push_back({is, report.cluster, std::move(what), std::move(remedy)});
    };
    if (report.said.why) {
        add(severity::danger, "no server says which server has which slot: " + report.said.words,
            "correct the addresses, or start the servers");
        return found;
    }
    cluster_map const& map = report.said.map;
    if (auto const covered = map.covered(); covered < detail::cluster_slots)
        add(severity::danger, std::to_string(covered) + " of " + std::to_string(detail::cluster_slots) + " slots are covered",
            "redis-cli --cluster fix host:port");
    if (map.is_cut_off())
        add(severity::danger, "the server that was asked cannot reach most primaries", "look at the network between the servers");
    for (auto const& s : map.in_migration)
        add(severity::warning, "slot " + std::to_string(s.slot) + " is being moved; a shard in it has no votes meanwhile",
            "wait; redis-cli --cluster fix host:port ends a migration that was interrupted");
    judge_replicas(found, cluster, report);
    auto const k = acknowledgements_of(cluster, map);
    add(severity::note,
        std::to_string(cluster.cluster->shards) + " shards over " +
            count_of(static_cast<std::size_t>(std::count_if(map.servers.begin(), map.servers.end(),
                                                            [](auto const& s) { return s.primary && !s.slots.empty(); })),
                     "primary", "primaries") +
            "; votes wait for k = " + std::to_string(k),
        "nothing has to be done");
    return gravest_first(std::move(found));
}

}  // namespace redlock::cli
