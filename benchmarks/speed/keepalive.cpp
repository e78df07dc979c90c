// What it costs to hold many leases: the watchdog's CPU time, and memory.
#include "processors.hpp"
#include "run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <cstdio>
#include <fstream>
#include <stdexcept>

#include <unistd.h>

namespace bench {

namespace {

class holder {
public:
    holder(workload const& what, std::size_t leases) : what_{what}, nodes_{io_.get_executor(), what.settings()}, held_(leases)
    {
        nodes_.run(asio::detached);
        run_until_usable(io_, nodes_);
    }

    // Acquires all of them, and measures time and memory.
    keeping take_all()
    {
        // A first round, released again: memory that the client keeps for its callers does not count as memory of leases.
        acquire(std::min<std::size_t>(held_.size(), 4 * what_.callers));
        release();
        keeping result;
        double const before = resident_bytes();
        auto const began = steady::now();
        acquire(held_.size());
        result.acquire_seconds = std::chrono::duration<double>{steady::now() - began}.count();
        result.bytes_per_lease = (resident_bytes() - before) / static_cast<double>(held_.size());
        return result;
    }

    keeping keep(std::chrono::nanoseconds measured)
    {
        keeping result = take_all();
        run_for(io_, what_.ttl / 3);  // a whole cycle, so that each was extended once
        auto const renewed_before = nodes_.status().counters.extensions_renewed;
        cpu_time const used_before = cpu_used();
        auto const measured_from = steady::now();
        run_for(io_, measured);
        double const seconds = std::chrono::duration<double>{steady::now() - measured_from}.count();
        cpu_time const used = cpu_used();
        result.cpu_share = (used.user_us + used.system_us - used_before.user_us - used_before.system_us) / 1e6 / seconds;
        auto const counters = nodes_.status().counters;
        result.extensions = static_cast<double>(counters.extensions_renewed - renewed_before);
        if (counters.leases_lost != 0) throw std::runtime_error{std::to_string(counters.leases_lost) + " leases were lost"};
        for (auto const& lease : held_)
            if (!lease.valid()) throw std::runtime_error{"a lease is not valid any more"};
        return result;
    }

private:
    void acquire(std::size_t count)
    {
        next_ = 0;
        count_ = missing_ = count;
        for (std::size_t i = 0; i < std::min(what_.callers, count); ++i) asio::co_spawn(io_, take(), rethrow);
        io_.run();
        io_.restart();
    }

    asio::awaitable<void> take()
    {
        redlock::lock_options const options{.ttl = what_.ttl, .fencing = what_.fencing};
        while (next_ < count_) {
            std::size_t const i = next_++;
            redlock::lock const resource{nodes_, what_.key(i), options};
            auto acquisition = resource.acquire(asio::use_awaitable);
            held_[i] = co_await std::move(acquisition);
            if (--missing_ == 0) io_.stop();
        }
    }

    void release()
    {
        for (auto& lease : held_) lease = {};
        auto drained = [this](redlock::error_code) { io_.stop(); };
        nodes_.drain(drained);
        io_.run();
        io_.restart();
    }

    workload const& what_;
    asio::io_context io_{1};
    redlock::client nodes_;
    std::vector<redlock::lease> held_;
    std::size_t next_{0};
    std::size_t count_{0};
    std::size_t missing_{0};
};

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
    auto const kept = run_in_client_process<keeping>([&] { return holder{what, leases}.keep(measured); });
    if (kept.extensions < static_cast<double>(leases)) throw std::runtime_error{"not every lease was extended while it was measured"};
    return kept;
}

double bytes_per_held_lease(workload const& what, std::size_t leases)
{
    return run_in_client_process<keeping>([&] { return holder{what, leases}.take_all(); }).bytes_per_lease;
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
