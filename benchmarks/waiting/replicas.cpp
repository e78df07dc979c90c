// What it costs when votes count only once replicas, or disks, have them: one node with two replicas.
#include "measurements.hpp"
#include "loop.hpp"
#include "report.hpp"
#include "support/command_stats.hpp"
#include "support/replication.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bench {
namespace {

using redlock::testing::redis_server;
using redlock::testing::redis_server_options;

struct replica_choices : choices {
    std::string server{"redis-server"};
    std::vector<std::string> parameters{"", "replicas=1", "replicas=2"};
    bool appendonly{false};
    std::size_t rounds{2'000};
    std::size_t callers{64};
    double seconds{3};
};

struct primary_with_two {
    explicit primary_with_two(replica_choices const& chosen)
    {
        redis_server_options options;
        options.binary = chosen.server;
        options.appendonly = chosen.appendonly;
        options = redlock::testing::quick_to_copy(options);
        for (int i = 0; i < 3; ++i) servers.emplace_back(options);
        for (int i = 1; i < 3; ++i) redlock::testing::follow(servers[static_cast<std::size_t>(i)], servers[0]);
        redlock::testing::wait_for_replicas(servers[0], 2);
    }
    std::deque<redis_server> servers;
};

std::size_t waits_of(redis_server const& server)
{
    return redlock::testing::calls_of(server, "wait") + redlock::testing::calls_of(server, "waitaof");
}

// Processor time that a server has used, in microseconds.
double cpu_us(redis_server const& server)
{
    auto const info = server.command({"INFO", "cpu"});
    double sum = 0;
    for (std::string const name : {"used_cpu_sys:", "used_cpu_user:"}) sum += std::stod(info.substr(info.find(name) + name.size()));
    return sum * 1e6;
}

// Of one lease, acquired and released: of the primary, and of both replicas.
struct server_cost {
    explicit server_cost(std::deque<redis_server> const& of_whom) : servers{of_whom}
    {
        for (auto const& s : servers) before.push_back(cpu_us(s));
    }
    json of(double leases) const
    {
        std::vector<double> used;
        for (std::size_t i = 0; i < servers.size(); ++i) used.push_back((cpu_us(servers[i]) - before[i]) / leases);
        return {{"primary", used[0]}, {"replicas", used[1] + used[2]}};
    }
    std::deque<redis_server> const& servers;
    std::vector<double> before;
};

json measure(replica_choices const& chosen, std::string const& parameters)
{
    primary_with_two const there{chosen};
    asio::io_context io{1};
    redlock::config settings = redlock::config::from_urls({there.servers[0].url() + (parameters.empty() ? "" : "?" + parameters)});
    settings.bootstrap = true;
    redlock::client nodes{io.get_executor(), settings};
    nodes.run(asio::detached);
    std::vector<double> acquire_us;
    std::uint64_t leases = 0;
    std::size_t waits = 0;
    double seconds = 0;
    json alone_cpu_us;
    json busy_cpu_us;

    auto one_after_the_other = [&]() -> asio::awaitable<void> {
        auto ready = wait_until_usable(nodes);
        co_await std::move(ready);
        redlock::lock const resource{nodes, "measured", chosen.lock()};
        std::optional<server_cost> cost;
        for (std::size_t i = 0; i < chosen.rounds + chosen.rounds / 10; ++i) {
            if (i == chosen.rounds / 10) cost.emplace(there.servers);
            auto const asked_at = steady::now();
            auto acquisition = resource.acquire(asio::use_awaitable);
            redlock::lease held = co_await std::move(acquisition);
            if (i >= chosen.rounds / 10) acquire_us.push_back(std::chrono::duration<double, std::micro>{steady::now() - asked_at}.count());
            auto release = held.release(asio::use_awaitable);
            co_await std::move(release);
        }
        alone_cpu_us = cost->of(static_cast<double>(chosen.rounds));
    };
    bool stop = false;
    auto all_the_time = [&](std::string const name) -> asio::awaitable<void> {
        redlock::lock const resource{nodes, name, chosen.lock()};
        while (!stop) {
            auto acquisition = resource.acquire(asio::use_awaitable);
            redlock::lease held = co_await std::move(acquisition);
            auto release = held.release(asio::use_awaitable);
            co_await std::move(release);
            ++leases;
        }
    };
    auto story = [&]() -> asio::awaitable<void> {
        auto first = one_after_the_other();
        co_await std::move(first);
        for (std::size_t i = 0; i < chosen.callers; ++i) asio::co_spawn(io, all_the_time("measured:" + std::to_string(i)), asio::detached);
        auto warm_up = pause(300ms);
        co_await std::move(warm_up);
        auto const began = steady::now();
        leases = 0;
        auto const before = waits_of(there.servers[0]);
        server_cost const cost{there.servers};
        auto measured = pause(std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>{chosen.seconds}));
        co_await std::move(measured);
        seconds = std::chrono::duration<double>{steady::now() - began}.count();
        waits = waits_of(there.servers[0]) - before;
        busy_cpu_us = cost.of(static_cast<double>(std::max<std::uint64_t>(1, leases)));
        stop = true;
        nodes.cancel();
    };
    asio::co_spawn(io, story(), rethrow);
    io.run();
    auto const count = static_cast<double>(leases);
    return {{"parameters", parameters},
            {"fencing", !chosen.plain},
            {"acquire_us", distribution(std::move(acquire_us))},
            {"server_cpu_us_of_a_lease", std::move(alone_cpu_us)},
            {"callers", chosen.callers},
            {"leases_per_second", count / seconds},
            {"server_cpu_us_of_a_lease_with_callers", std::move(busy_cpu_us)},
            {"waits_per_lease", leases == 0 ? json{} : json(static_cast<double>(waits) / count)}};
}

}  // namespace

void add_replicas(CLI::App& app)
{
    auto const chosen = std::make_shared<replica_choices>();
    auto& command = *app.add_subcommand("replicas", "Acquisitions from a node with two replicas that wait for them, and that do not");
    chosen->add_to(command);
    command.add_option("--server", chosen->server, "The program")->capture_default_str();
    command.add_flag("--appendonly", chosen->appendonly, "The servers keep a file, with appendfsync always");
    command.add_option("--parameters", chosen->parameters, "Of the node's URL, one measurement each")->capture_default_str();
    command.add_option("--rounds", chosen->rounds, "Acquisitions one after the other")->capture_default_str();
    command.add_option("--callers", chosen->callers, "Coroutines that acquire and release all the time")->capture_default_str();
    command.add_option("--seconds", chosen->seconds, "For how long they do")->capture_default_str();
    command.callback([chosen] {
        json figures = json::array();
        for (auto const& parameters : chosen->parameters) figures.push_back(measure(*chosen, parameters));
        report(*chosen, "replicas", std::move(figures));
    });
}

}  // namespace bench
