#include "watched_group.hpp"

#include "replication.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <vector>

#include <poll.h>

namespace redlock::testing {
namespace {

using namespace std::chrono_literals;

constexpr auto max_complete_time = 40s;

redis_server_options sentinel_options_of(watched_group_options const& group)
{
    redis_server_options options;
    options.binary = group.server.binary;
    options.start_timeout = group.server.start_timeout;
    options.sentinel = true;
    options.requirepass = group.sentinel_password;
    options.tls = group.sentinel_tls;
    return options;
}

std::string value_in(resp_reply const& map, std::string const& name)
{
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2)
        if (map.items[i] == name) return map.items[i + 1];
    return "";
}

}  // namespace

watched_group::watched_group(watched_group_options options) : options_{std::move(options)}
{
    redis_server_options of_servers = options_.server;
    of_servers.arguments.insert(of_servers.arguments.begin(), {"--repl-ping-replica-period", "1"});
    for (std::size_t i = 0; i <= options_.replicas; ++i) servers.emplace_back(on_machine(i, quick_to_copy(of_servers)));
    for (std::size_t i = 1; i < servers.size(); ++i) follow(servers[i], servers[0]);
    if (options_.replicas > 0) wait_for_replicas(servers[0], options_.replicas);
    std::string const& name = options_.master;
    auto const quorum = std::to_string(options_.sentinels / 2 + 1);
    for (std::size_t i = 0; i < options_.sentinels; ++i) {
        auto const& s = sentinels.emplace_back(on_machine(i, sentinel_options_of(options_)));
        if (!options_.sentinel_password.empty()) s.command({"SENTINEL", "CONFIG", "SET", "sentinel-pass", options_.sentinel_password});
        hasten(i);
        s.command({"SENTINEL", "MONITOR", name, servers[0].host(), std::to_string(servers[0].port()), quorum});
        s.command({"SENTINEL", "SET", name, "down-after-milliseconds", "1000"});
        s.command({"SENTINEL", "SET", name, "failover-timeout", "5000"});
    }
    wait_until_complete();
}

std::string watched_group::url(std::string const& more) const
{
    std::vector<std::size_t> all;
    for (std::size_t i = 0; i < sentinels.size(); ++i) all.push_back(i);
    return url_of(all, more);
}

std::string watched_group::url_of(std::vector<std::size_t> const& which, std::string const& more) const
{
    std::string hosts;
    for (auto const i : which) hosts += (hosts.empty() ? "" : ",") + sentinels[i].host() + ':' + std::to_string(sentinels[i].port());
    return "redis+sentinel://" + hosts + '/' + options_.master + more;
}

std::string watched_group::url_with_tls(std::string const& more) const
{
    std::string hosts;
    for (auto const& s : sentinels) hosts += (hosts.empty() ? "" : ",") + s.host() + ':' + std::to_string(s.tls_port());
    return "redis+sentinel://" + hosts + '/' + options_.master + more;
}

std::uint16_t watched_group::primary_port(std::size_t sentinel) const
{
    auto const reply = sentinels.at(sentinel).ask({"SENTINEL", "GET-MASTER-ADDR-BY-NAME", options_.master}, options_.answer_timeout);
    return static_cast<std::uint16_t>(std::stoul(reply.items.at(1)));
}

redis_server& watched_group::server(std::uint16_t port)
{
    auto const found = std::find_if(servers.begin(), servers.end(), [port](redis_server const& s) { return s.port() == port; });
    if (found == servers.end()) throw std::runtime_error{"no server has this port"};
    return *found;
}

// A machine that has much to do makes a Sentinel wait, and it must not take that for a wrong clock (TILT) and stop working.
void watched_group::hasten(std::size_t sentinel, std::chrono::milliseconds publish_period) const
{
    sentinels.at(sentinel).command({"SENTINEL", "DEBUG", "INFO-PERIOD", "500", "PUBLISH-PERIOD", std::to_string(publish_period.count()),
                                    "TILT-TRIGGER", "30000"},
                                   options_.answer_timeout);
}

redis_server_options watched_group::on_machine(std::size_t i, redis_server_options options) const
{
    if (options_.machines.empty()) return options;
    options.address = options_.machines.at(i).address;
    options.under = options_.machines.at(i).under;
    return options;
}

std::string watched_group::field(std::size_t sentinel, std::string const& name) const
{
    return value_in(sentinels.at(sentinel).ask({"SENTINEL", "MASTER", options_.master}, options_.answer_timeout), name);
}

bool watched_group::is_complete() const
{
    for (std::size_t i = 0; i < sentinels.size(); ++i) {
        if (field(i, "num-slaves") != std::to_string(options_.replicas)) return false;
        if (field(i, "num-other-sentinels") != std::to_string(options_.sentinels - 1)) return false;
        if (field(i, "flags") != "master") return false;
    }
    return true;
}

void watched_group::wait_until_complete() const
{
    auto const end = std::chrono::steady_clock::now() + max_complete_time;
    while (!is_complete()) {
        if (std::chrono::steady_clock::now() > end)
            throw std::runtime_error{"the Sentinels did not find each other\n" + sentinels[0].log_tail()};
        ::poll(nullptr, 0, 20);
    }
}

}  // namespace redlock::testing
