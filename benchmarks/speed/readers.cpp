// What it costs to read with a read-write lock, beside exclusive locks of as many callers. All readers have one name, so that its set on the servers
// has as many members as there are callers at once; a caller with an exclusive lock has a name of its own.
#include "run.hpp"
#include "server_stats.hpp"

namespace bench {

namespace {

struct pair_cost {
    double scripts_us{0};  ///< Of a server's scripts.
    double process_us{0};  ///< CPU time of a server's process, its sockets included.
};

pair_cost cost_on_a_server(workload what, fleet const& servers)
{
    double used_before = 0;
    what.at_begin = [&] {
        for (std::size_t i = 0; i < servers.size(); ++i) servers[i].command({"CONFIG", "RESETSTAT"});
        used_before = cpu_seconds(servers);
    };
    auto const measured = run_ours(what);
    double const used = cpu_seconds(servers) - used_before;
    double usec = 0;
    for (std::size_t i = 0; i < servers.size(); ++i) usec += stat_of(servers[i], "evalsha").second;
    double const pairs = measured.pairs * static_cast<double>(servers.size());
    return {usec / pairs, used * 1e6 / pairs};
}

}  // namespace

void measure_readers(run& r)
{
    auto const& bed = r.three();
    for (std::size_t const number : {1, 20, 1'000}) {
        std::size_t const callers = r.how.quick ? std::min<std::size_t>(number, 20) : number;  // callgrind is slow
        for (bool const reading : {false, true}) {
            workload what = r.work(bed, callers, true);
            what.reading = reading;
            std::vector<double> scripts_us;
            std::vector<double> process_us;
            for (std::size_t round = 0; round < r.how.rounds; ++round) {
                auto const cost = run_apart<pair_cost>([&] { return cost_on_a_server(what, bed.servers()); });
                scripts_us.push_back(cost.scripts_us);
                process_us.push_back(cost.process_us);
            }
            std::string const kind = (reading ? "readers_" : "exclusive_") + std::to_string(number);
            r.put(kind + "_server_us_per_pair", median(scripts_us));
            r.put(kind + "_server_process_us_per_pair", median(process_us));
            what.pairs = r.how.quick ? 2 * callers : std::max<std::size_t>(500, 5 * callers);
            r.put(kind + "_instructions_per_pair", instructions_per_pair(what));
        }
    }
}

}  // namespace bench
