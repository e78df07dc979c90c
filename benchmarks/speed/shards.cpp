// What shards cost: 1, 2, 4 and 8 servers that are a shard each, and a Redis Cluster with 1 shard and with 64. Servers and clients share the processors
// of one machine, so costs are counted for a pair, and not how many pairs there are in a second.
#include "processors.hpp"
#include "run.hpp"
#include "server_cpu.hpp"

#include "support/redis_cluster.hpp"

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>

namespace bench {

namespace {

struct pair_cost {
    double client_us{0};  ///< CPU time of the client's process.
    double server_us{0};  ///< CPU time of all servers' processes together.
};

pair_cost cost_of_a_pair(workload what, std::function<double()> const& server_seconds)
{
    double used_before = 0;
    what.at_begin = [&] { used_before = server_seconds(); };
    sample const measured = run_ours(what);
    return {measured.cpu_us_per_pair(), (server_seconds() - used_before) * 1e6 / measured.pairs};
}

pair_cost median_cost(run const& r, workload const& what, std::function<double()> const& server_seconds)
{
    std::vector<double> client_us;
    std::vector<double> server_us;
    for (std::size_t round = 0; round < r.how.rounds; ++round) {
        auto const cost = run_in_client_process<pair_cost>([&] { return cost_of_a_pair(what, server_seconds); });
        client_us.push_back(cost.client_us);
        server_us.push_back(cost.server_us);
    }
    return {median(client_us), median(server_us)};
}

workload workload_with_tokens(run const& r, std::size_t callers)
{
    workload what;
    what.callers = callers;
    what.fencing = true;
    what.warm_up = r.how.warm_up;
    what.measured = r.how.measured;
    return what;
}

// How much resident memory grows when a client connects to all its shards.
double bytes_of_a_client(workload const& what)
{
    double const before = resident_bytes();
    asio::io_context io{1};
    redlock::client nodes{io.get_executor(), what.settings()};
    nodes.run(asio::detached);
    run_until_usable(io, nodes);
    return resident_bytes() - before;
}

}  // namespace

// With 256 callers for each server, and with 256 in all, who share fewer messages the more servers there are.
void measure_shards(run& r)
{
    std::vector<std::size_t> const numbers = r.how.quick ? std::vector<std::size_t>{1, 8} : std::vector<std::size_t>{1, 2, 4, 8};
    std::size_t const callers = r.how.quick ? 16 : 256;
    for (std::size_t const number : numbers) {
        fleet const servers{number};
        pin_servers(servers);
        for (bool const each : {true, false}) {
            if (number == 1 && !each) continue;
            workload what = workload_with_tokens(r, each ? number * callers : callers);
            what.at = servers.ports();
            what.sharded = true;
            auto const cost = median_cost(r, what, [&] { return cpu_seconds(servers); });
            std::string const name = "shards_" + std::to_string(number) + (each ? "" : "_few_callers");
            r.put(name + "_client_us_per_pair", cost.client_us);
            r.put(name + "_server_us_per_pair", cost.server_us);
            what.pairs = 8 * what.callers;
            r.put(name + "_instructions_per_pair", instructions_per_pair(what));
        }
    }
}

// Another cluster for each number of shards, since a cluster keeps its number of shards.
void measure_cluster(run& r)
{
    for (std::size_t const number : {1u, 64u}) {
        redlock::testing::redis_cluster const cluster;
        pin_servers(cluster.servers);
        workload what = workload_with_tokens(r, r.how.quick ? 16 : 256);
        what.cluster = cluster.url("?shards=" + std::to_string(number));
        what.ttl = r.how.leases_ttl;
        std::string const name = "cluster_" + std::to_string(number);
        // New servers, which have to be admitted first; then the same ones, admitted.
        r.put(name + "_first_acquire_ms", run_in_client_process<double>([&] { return first_lease_ms(what.settings(), true); }));
        std::vector<double> admitted;
        for (std::size_t round = 0; round < r.how.rounds; ++round)
            admitted.push_back(run_in_client_process<double>([&] { return first_lease_ms(what.settings(), true); }));
        r.put(name + "_first_acquire_admitted_ms", median(admitted));
        r.put(name + "_bytes_of_a_client", run_in_client_process<double>([&] { return bytes_of_a_client(what); }));
        auto const cost = median_cost(r, what, [&] { return cpu_seconds(cluster.servers); });
        r.put(name + "_client_us_per_pair", cost.client_us);
        r.put(name + "_server_us_per_pair", cost.server_us);
        auto const kept = keep_alive(what, r.how.leases);
        r.put(name + "_keepalive_cpu_core_share", kept.cpu_share);
        r.put(name + "_bytes_per_held_lease", kept.bytes_per_lease);
        r.put(name + "_keepalive_acquire_seconds", kept.acquire_seconds);
    }
}

}  // namespace bench
