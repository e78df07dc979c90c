// What readers of a read-write lock and permits of semaphores cost, beside exclusive locks of as many callers. All readers have one name,
// so that its set on the servers has as many members as there are callers at once; a caller with an exclusive lock or a permit has a name
// of its own. A semaphore with 0 permits stands for an exclusive lock.
#include "processors.hpp"
#include "command_stats.hpp"
#include "run.hpp"
#include "server_cpu.hpp"

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
    for (std::size_t i = 0; i < servers.size(); ++i) usec += command_stats_of(servers[i])["evalsha"].usec;
    double const pairs = measured.pairs * static_cast<double>(servers.size());
    return {usec / pairs, used * 1e6 / pairs};
}

// `name` begins the names of the figures. Callgrind is slow, so few pairs are counted.
void measure_kind(run& r, workload what, std::string const& name)
{
    std::vector<double> scripts_us;
    std::vector<double> process_us;
    for (std::size_t round = 0; round < r.how.rounds; ++round) {
        auto const cost = run_in_client_process<pair_cost>([&] { return cost_on_a_server(what, r.three().servers()); });
        scripts_us.push_back(cost.scripts_us);
        process_us.push_back(cost.process_us);
    }
    r.put(name + "_server_us_per_pair", median(scripts_us));
    r.put(name + "_server_process_us_per_pair", median(process_us));
    what.pairs = r.how.quick ? 2 * what.callers : std::max<std::size_t>(500, 5 * what.callers);
    r.put(name + "_instructions_per_pair", instructions_per_pair(what));
}

}  // namespace

void measure_readers(run& r)
{
    for (std::size_t const number : {1u, 20u, 1'000u}) {
        for (bool const reading : {false, true}) {
            workload what = r.work(r.three(), r.how.quick ? std::min<std::size_t>(number, 20) : number, true);
            what.reading = reading;
            measure_kind(r, what, (reading ? "readers_" : "exclusive_") + std::to_string(number));
        }
    }
}

void measure_permits(run& r)
{
    for (std::size_t const callers : {1u, 20u}) {
        for (std::uint32_t const permits : {0u, 2u, 8u, 64u}) {
            workload what = r.work(r.three(), callers, true);
            what.permits = permits;
            measure_kind(r, what, "permits_" + std::to_string(permits) + "_c" + std::to_string(callers));
        }
    }
}

}  // namespace bench
