// How long a program waits for its first lease.
#include "processors.hpp"
#include "run.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

namespace bench {

double first_lease_ms(redlock::config const& settings, bool fencing)
{
    auto const began = steady::now();
    double ms = 0;
    asio::io_context io{1};
    redlock::client nodes{io.get_executor(), settings};
    nodes.run(asio::detached);
    auto story = [&]() -> asio::awaitable<void> {
        redlock::lock const resource{nodes, "the-first", {.fencing = fencing}};
        auto acquisition = resource.acquire(asio::use_awaitable);
        redlock::lease held = co_await std::move(acquisition);
        ms = std::chrono::duration<double, std::milli>{steady::now() - began}.count();
        auto release = held.release(asio::use_awaitable);
        co_await std::move(release);
        nodes.cancel();
    };
    asio::co_spawn(io, story(), rethrow);
    io.run();
    return ms;
}

// Each round: new servers, which have to be admitted first; then the same servers, admitted; then without tokens.
void measure_first(run& r)
{
    std::vector<double> fresh;
    std::vector<double> admitted;
    std::vector<double> plain;
    for (std::size_t round = 0; round < r.how.rounds; ++round) {
        fleet const servers{5};
        pin_servers(servers);
        auto const settings = bootstrap_config(servers.ports());
        fresh.push_back(run_in_client_process<double>([&] { return first_lease_ms(settings, true); }));
        admitted.push_back(run_in_client_process<double>([&] { return first_lease_ms(settings, true); }));
        plain.push_back(run_in_client_process<double>([&] { return first_lease_ms(settings, false); }));
    }
    r.put("first_acquire_ms", median(fresh));
    r.put("first_acquire_admitted_ms", median(admitted));
    r.put("first_acquire_plain_ms", median(plain));
}

}  // namespace bench
