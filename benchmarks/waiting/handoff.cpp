// How many times a second a lock goes from one coroutine to another of the same client, on one core.
#include "handoff.hpp"
#include "measurements.hpp"
#include "fleet.hpp"
#include "loop.hpp"
#include "report.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>

#include <sys/resource.h>
#include <unistd.h>

namespace bench {
namespace {

struct handoff_choices : choices {
    std::size_t waiters{100};
    double seconds{10};
};

double cpu_seconds()
{
    rusage used{};
    ::getrusage(RUSAGE_SELF, &used);
    auto const seconds = [](timeval const& t) { return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6; };
    return seconds(used.ru_utime) + seconds(used.ru_stime);
}

struct tally {
    std::uint64_t pairs{0};
    steady::duration max_wait{};
};

// One in eight looks at the clock: that takes a few per cent of a hand-over.
constexpr std::size_t watched_one_in = 8;

asio::awaitable<void> contend(redlock::lock resource, tally& count, bool watched)
{
    for (;;) {
        auto const asked_at = watched ? steady::now() : steady::time_point{};
        auto acquisition = resource.acquire(asio::use_awaitable);
        redlock::lease held = co_await std::move(acquisition);
        if (watched) count.max_wait = std::max(count.max_wait, steady::now() - asked_at);
        auto release = held.release(asio::use_awaitable);
        co_await std::move(release);
        ++count.pairs;
    }
}

}  // namespace

handoffs count_handoffs(redlock::config const& settings, redlock::lock_options const& options, std::size_t waiters,
                        std::chrono::nanoseconds time)
{
    asio::io_context io{1};
    redlock::client nodes{io.get_executor(), settings};
    nodes.run(asio::detached);
    tally count;
    redlock::lock const resource{nodes, "handed-on:" + std::to_string(::getpid()), options};  // an earlier process may still hold its own
    for (std::size_t i = 0; i < waiters; ++i) asio::co_spawn(io, contend(resource, count, i % watched_one_in == 0), rethrow);

    run_for(io, time / 10);
    count = {};
    double const cpu_before = cpu_seconds();
    auto const began = steady::now();
    run_for(io, time);
    handoffs result;
    result.cpu_seconds = cpu_seconds() - cpu_before;
    result.seconds = std::chrono::duration<double>{steady::now() - began}.count();
    result.pairs = static_cast<double>(count.pairs);
    result.wait_max_ms = std::chrono::duration<double, std::milli>{count.max_wait}.count();
    return result;
}

namespace {

json measure(handoff_choices const& chosen, bool fencing)
{
    fleet const servers{chosen.nodes};
    handoffs const counted = count_handoffs(bootstrap_config(servers.ports()), chosen.lock(fencing), chosen.waiters,
                                            to_duration(chosen.seconds));
    return {{"fencing", fencing},
            {"waiters", chosen.waiters},
            {"seconds", counted.seconds},
            {"pairs", counted.pairs},
            {"pairs_per_second", counted.pairs / counted.seconds},
            {"cpu_us_per_pair", counted.pairs > 0 ? json(counted.cpu_seconds * 1e6 / counted.pairs) : json{}},
            {"cpu_share", counted.cpu_seconds / counted.seconds},
            {"wait_max_ms", counted.wait_max_ms}};
}

}  // namespace

void add_handoff(CLI::App& app)
{
    auto const chosen = std::make_shared<handoff_choices>();
    auto& command = *app.add_subcommand("handoff", "Acquisitions and releases a second by the coroutines of one client");
    chosen->add_to(command);
    command.add_option("--waiters", chosen->waiters, "How many coroutines contend")->capture_default_str();
    command.add_option("--seconds", chosen->seconds, "How long")->capture_default_str();
    command.callback([chosen] {
        json figures = json::array();
        for (bool const fencing : {true, false})
            if (!fencing || !chosen->plain) figures.push_back(measure(*chosen, fencing));
        report(*chosen, "handoff", std::move(figures));
    });
}

}  // namespace bench
