// What an acquisition costs a server, from INFO commandstats.
//
// Acquisitions and releases with tokens are both EVALSHA, and a script's time holds that of the calls that it makes. So the names are
// taken and given back once, which makes their counters; then the statistics are reset, and all names are taken and kept: now EVALSHA, or
// SET, is nothing but acquisitions.
//
// Two scripts for comparison are measured on the same servers: scripts_cost.cpp.
#include "command_stats.hpp"
#include "held_leases.hpp"
#include "processors.hpp"
#include "run.hpp"
#include "server_cpu.hpp"

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace bench {

namespace {

struct server_cost {
    double acquire_us{0};
    double identity_us{0};  ///< INFO replication, of which a message has one.
    double time_us{0};  ///< TIME, likewise; the calls of scripts are in it, and rare.
    double process_us{0};  ///< CPU time of the server's process, its sockets included.
};

server_cost cost_of(workload const& what, fleet const& servers, std::size_t names)
{
    held_leases held{what, bootstrap_config(what.at), false, names};
    held.acquire(names);
    held.release();
    for (std::size_t i = 0; i < servers.size(); ++i) servers[i].command({"CONFIG", "RESETSTAT"});
    double const used_before = cpu_seconds(servers);
    held.acquire(names);
    run_for(held.io(), 200ms);  // the slowest node has answered as well
    double const used = cpu_seconds(servers) - used_before;
    double sets = 0;
    server_cost total;
    total.process_us = used * 1e6;
    for (std::size_t i = 0; i < servers.size(); ++i) {
        auto counted = command_stats_of(servers[i]);
        sets += static_cast<double>(counted["set"].calls);
        total.acquire_us += counted[what.fencing ? "evalsha" : "set"].usec;
        total.identity_us += counted["info"].usec;
        total.time_us += counted["time"].usec;
    }
    auto const acquired = static_cast<double>(names * servers.size());
    // The key; with tokens the key and its counter, and now and then the high-water mark.
    double const sets_of_each = what.fencing ? 2 : 1;
    if (sets < sets_of_each * acquired) throw std::runtime_error{"the servers have not counted every acquisition"};
    return {total.acquire_us / acquired, total.identity_us / acquired, total.time_us / acquired, total.process_us / acquired};
}

}  // namespace

void measure_server_cost(run& r)
{
    std::size_t const names = r.how.quick ? 2'000 : 10'000;
    auto const& bed = r.three();
    for (bool const fencing : {false, true}) {
        workload what = r.work(bed, 256, fencing);
        what.ttl = 30s;
        std::vector<server_cost> all;
        for (std::size_t round = 0; round < r.how.rounds; ++round)
            all.push_back(run_in_client_process<server_cost>([&] { return cost_of(what, bed.servers(), names); }));
        auto const of = [&](double server_cost::* part) {
            std::vector<double> values;
            for (auto const& c : all) values.push_back(c.*part);
            return median(std::move(values));
        };
        std::string const kind = fencing ? "fenced_" : "plain_";
        r.put(kind + "server_us_per_acquire", of(&server_cost::acquire_us));
        r.put(kind + "server_process_cpu_us_per_acquire", of(&server_cost::process_us));
        r.put(kind + "server_time_us_per_acquire", of(&server_cost::time_us));
        // Messages without tokens do not ask for it.
        if (fencing) r.put(kind + "server_info_us_per_acquire", of(&server_cost::identity_us));
    }
    measure_scripts_cost(r, names);
}

}  // namespace bench
