// What it costs to hold many leases: the watchdog's CPU time, and memory.
#include "held_leases.hpp"
#include "processors.hpp"
#include "run.hpp"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace bench {

namespace {

// Acquires all of them, and measures time and memory.
keeping acquire_all(held_leases& held, workload const& what)
{
    // A first round, released again: memory that the client keeps for its callers does not count as memory of leases.
    held.acquire(std::min<std::size_t>(held.size(), 4 * what.callers));
    held.release();
    keeping result;
    double const before = resident_bytes();
    auto const began = steady::now();
    held.acquire(held.size());
    result.acquire_seconds = std::chrono::duration<double>{steady::now() - began}.count();
    result.bytes_per_lease = (resident_bytes() - before) / static_cast<double>(held.size());
    return result;
}

keeping keep(workload const& what, std::size_t leases, std::chrono::nanoseconds measured)
{
    held_leases held{what, what.settings(), true, leases};
    keeping result = acquire_all(held, what);
    run_for(held.io(), what.ttl / 3);  // a whole cycle, so that each was extended once
    auto const renewed_before = held.client().status().counters.extensions_renewed;
    cpu_time const used_before = cpu_used();
    auto const measured_from = steady::now();
    run_for(held.io(), measured);
    double const seconds = std::chrono::duration<double>{steady::now() - measured_from}.count();
    cpu_time const used = cpu_used();
    result.cpu_share = (used.user_us + used.system_us - used_before.user_us - used_before.system_us) / 1e6 / seconds;
    auto const counters = held.client().status().counters;
    result.extensions = static_cast<double>(counters.extensions_renewed - renewed_before);
    if (counters.leases_lost != 0) throw std::runtime_error{std::to_string(counters.leases_lost) + " leases were lost"};
    for (auto const& lease : held.leases())
        if (!lease.valid()) throw std::runtime_error{"a lease is not valid any more"};
    return result;
}

}  // namespace

double resident_bytes()
{
    std::ifstream in{"/proc/self/statm"};
    double total = 0;
    double resident = 0;
    in >> total >> resident;
    return resident * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

keeping keep_alive(workload const& what, std::size_t leases)
{
    auto const measured = 2 * std::chrono::nanoseconds{what.ttl / 3};  // each is extended twice
    auto const kept = run_in_client_process<keeping>([&] { return keep(what, leases, measured); });
    if (kept.extensions < static_cast<double>(leases)) throw std::runtime_error{"not every lease was extended while it was measured"};
    return kept;
}

double bytes_per_held_lease(workload const& what, std::size_t leases)
{
    return run_in_client_process<keeping>([&] {
               held_leases held{what, what.settings(), true, leases};
               return acquire_all(held, what);
           })
        .bytes_per_lease;
}

void measure_keepalive(run& r)
{
    for (bool const fencing : {true, false}) {
        workload what = r.work(r.three(), 256, fencing);
        what.ttl = r.how.leases_ttl;
        auto const kept = keep_alive(what, r.how.leases);
        std::string const kind = fencing ? "" : "plain_";
        r.put(kind + "keepalive_100k_cpu_core_share", kept.cpu_share);
        r.put(kind + "bytes_per_held_lease", kept.bytes_per_lease);
        r.put(kind + "keepalive_extensions", kept.extensions);
        r.put(kind + "keepalive_acquire_seconds", kept.acquire_seconds);
    }
    r.put("keepalive_leases", static_cast<double>(r.how.leases));
}

}  // namespace bench
