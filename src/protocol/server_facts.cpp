#include "protocol/server_facts.hpp"

#include "protocol/server_words.hpp"

#include <charconv>

namespace redlock::detail {

std::string_view field_of_info(std::string_view text, std::string_view name)
{
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
        bool const begins_a_line = at == 0 || text[at - 1] == '\n';
        std::size_t const colon = at + name.size();
        if (!begins_a_line || colon >= text.size() || text[colon] != ':') continue;
        auto const value = text.substr(colon + 1);
        return value.substr(0, value.find_first_of("\r\n"));
    }
    return {};
}

namespace {

void set_if_found(std::string& member, std::string_view found)
{
    if (!found.empty()) member = words_of_server(found);
}

std::optional<std::uint32_t> count_in(std::string_view digits)
{
    std::uint32_t n{0};
    auto const end = digits.data() + digits.size();
    auto const [stop, error] = std::from_chars(digits.data(), end, n);
    return error == std::errc{} && stop == end ? std::optional{n} : std::nullopt;
}

}  // namespace

void server_facts::read_hello(std::string_view key, std::string_view value)
{
    if (key == "mode") mode = value;
    if (key == "role") role = value;
    if (key == "version") version = words_of_server(value);
}

void server_facts::read_info(std::string_view text)
{
    set_if_found(role, field_of_info(text, "role"));
    set_if_found(run_id, field_of_info(text, "run_id"));
    set_if_found(uptime, field_of_info(text, "uptime_in_seconds"));
    set_if_found(maxmemory, field_of_info(text, "maxmemory"));
    set_if_found(maxmemory_policy, field_of_info(text, "maxmemory_policy"));
    set_if_found(replicas, field_of_info(text, "connected_slaves"));
}

std::optional<std::uint32_t> server_facts::connected_replicas() const { return count_in(replicas); }

std::optional<std::chrono::seconds> server_facts::running_for() const
{
    auto const seconds = count_in(uptime);
    return seconds ? std::optional{std::chrono::seconds{*seconds}} : std::nullopt;
}

std::string why_not_a_replica()
{
    return "the server is a replica: it would lose locks that its primary granted; waiting does not help: use independent primaries "
           "(REPLICAOF NO ONE)";
}

std::string no_cluster_here()
{
    return "this server is no member of a Redis Cluster (cluster-enabled no); give its address as redis://host:port";
}

std::optional<std::string> objection_to(server_facts const& facts, bool in_cluster)
{
    if (facts.mode == "cluster" && !in_cluster)
        return "the server is a member of a Redis Cluster, which moves keys between servers and fails over; waiting does not help: give "
               "the cluster as the node, redis-cluster://host:port,host:port, or use independent servers (cluster-enabled no)";
    if (facts.mode == "standalone" && in_cluster) return no_cluster_here();
    if (facts.mode == "sentinel")
        return "this is a Sentinel, which keeps no keys; use the address of an independent server, or redis+sentinel://host:port/MASTER "
               "for the "
               "group that it watches";
    if (!facts.role.empty() && facts.role != "master") return why_not_a_replica();
    bool const evicts = !facts.maxmemory_policy.empty() && facts.maxmemory_policy != "noeviction";
    if (evicts && !facts.maxmemory.empty() && facts.maxmemory != "0")
        return "the server evicts keys when its memory is full (maxmemory " + facts.maxmemory + ", maxmemory-policy " +
               facts.maxmemory_policy + "), and with them locks that are held; set maxmemory-policy noeviction, or maxmemory 0";
    return std::nullopt;
}

std::optional<std::string> objection_to_group(std::uint32_t connected, std::uint16_t replicas)
{
    if (replicas == 0 || connected <= 2u * replicas) return std::nullopt;
    return "the server has " + std::to_string(connected) + " replicas and votes wait for " + std::to_string(replicas) +
           " of them, which is less than a majority of the group: after a failover the new primary might not know a lock; use replicas=" +
           std::to_string((connected + 1) / 2) + " in every client";
}

}  // namespace redlock::detail
