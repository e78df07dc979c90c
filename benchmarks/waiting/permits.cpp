// What a permit of a semaphore costs beside a lock with tokens: the time to acquire one, the server's time for a pair, and how often one
// round is enough for several clients at once. The lock and the semaphores take turns, so that all of them meet the same noise.
#include "command_stats.hpp"
#include "measurements.hpp"
#include "fleet.hpp"
#include "loop.hpp"
#include "report.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <memory>

namespace bench {
namespace {

struct permit_choices : choices {
    std::vector<std::uint32_t> permits{2, 8, 64};
    std::size_t rounds{3'000};
    std::size_t clients{4};
};

// The time that all servers spent in scripts, with the commands that these call.
double script_us(fleet const& servers)
{
    double us = 0;
    for (std::size_t i = 0; i < servers.size(); ++i)
        for (auto const& [name, counted] : command_stats_of(servers[i]))
            if (name.starts_with("evalsha")) us += counted.usec;
    return us;
}

// A lock (`permits` is 0), or a semaphore.
struct contestant {
    std::uint32_t permits;
    std::vector<double> acquire_us{};
    double server_us{0};
};

asio::awaitable<void> use(redlock::client& nodes, permit_choices const& chosen, contestant& who, std::size_t pairs)
{
    redlock::lock const lock{nodes, "measured", chosen.lock()};
    redlock::semaphore const semaphore{nodes,
                                       "measured:" + std::to_string(who.permits),
                                       {.permits = std::max(who.permits, 1u), .lock = chosen.lock()}};
    for (std::size_t i = 0; i < pairs; ++i) {
        auto const asked_at = steady::now();
        redlock::lease held;
        if (who.permits == 0) {
            auto acquisition = lock.acquire(asio::use_awaitable);
            held = co_await std::move(acquisition);
        } else {
            auto acquisition = semaphore.acquire(asio::use_awaitable);
            held = co_await std::move(acquisition);
        }
        who.acquire_us.push_back(std::chrono::duration<double, std::micro>{steady::now() - asked_at}.count());
        auto release = held.release(asio::use_awaitable);
        co_await std::move(release);
    }
}

json measure_alone(permit_choices const& chosen)
{
    fleet const servers{chosen.nodes};
    asio::io_context io{1};
    redlock::client nodes{io.get_executor(), bootstrap_config(servers.ports())};
    nodes.run(asio::detached);
    std::vector<contestant> all{{0}};
    for (std::uint32_t const k : chosen.permits) all.push_back({k});
    auto story = [&]() -> asio::awaitable<void> {
        auto ready = wait_until_usable(nodes);
        co_await std::move(ready);
        constexpr std::size_t turns = 10;
        for (std::size_t turn = 0; turn <= turns; ++turn) {
            for (contestant& who : all) {
                if (turn == 1) who = {who.permits};  // the first turn was to warm up
                auto drained = nodes.drain(asio::use_awaitable);
                co_await std::move(drained);
                auto const before = script_us(servers);
                auto pairs = use(nodes, chosen, who, chosen.rounds / turns);
                co_await std::move(pairs);
                auto quiet = nodes.drain(asio::use_awaitable);
                co_await std::move(quiet);
                who.server_us += script_us(servers) - before;
            }
        }
        nodes.cancel();
    };
    asio::co_spawn(io, story(), rethrow);
    io.run();
    json rows = json::array();
    double lock_p50 = 0;
    for (contestant& who : all) {
        auto const pairs = static_cast<double>(who.acquire_us.size());
        json const times = distribution(std::move(who.acquire_us));
        if (who.permits == 0) lock_p50 = times["p50"];
        rows.push_back({{"permits", who.permits},
                        {"acquire_us", times},
                        {"p50_over_a_lock", times["p50"].get<double>() / lock_p50},
                        {"server_us_per_pair", who.server_us / pairs / static_cast<double>(servers.size())}});
    }
    return rows;
}

// All ask at once, each time, for eight free permits.
json measure_together(permit_choices const& chosen)
{
    fleet const servers{chosen.nodes};
    asio::io_context io{1};
    std::vector<std::unique_ptr<redlock::client>> clients;
    for (std::size_t i = 0; i < chosen.clients; ++i) {
        clients.push_back(std::make_unique<redlock::client>(io.get_executor(), bootstrap_config(servers.ports())));
        clients.back()->run(asio::detached);
    }
    std::uint64_t acquired = 0;
    std::uint64_t attempts = 0;
    auto once = [&](redlock::client& by, std::size_t& open) -> asio::awaitable<void> {
        redlock::semaphore const semaphore{by, "together", {.permits = 8, .lock = chosen.lock()}};
        redlock::attempt_report report;
        auto acquisition = semaphore.acquire(report, asio::use_awaitable);
        redlock::lease held = co_await std::move(acquisition);
        ++acquired;
        attempts += report.attempts;
        auto release = held.release(asio::use_awaitable);
        co_await std::move(release);
        --open;
    };
    auto story = [&]() -> asio::awaitable<void> {
        for (auto const& c : clients) {
            auto ready = wait_until_usable(*c);
            co_await std::move(ready);
        }
        for (std::size_t round = 0; round < chosen.rounds / 3; ++round) {
            std::size_t open = clients.size();
            for (auto const& c : clients) asio::co_spawn(io, once(*c, open), asio::detached);
            while (open > 0) {
                auto wait = pause(200us);
                co_await std::move(wait);
            }
        }
        for (auto const& c : clients) c->cancel();
    };
    asio::co_spawn(io, story(), rethrow);
    io.run();
    std::uint64_t moves = 0;
    for (auto const& c : clients) moves += c->status().counters.permit_moves;
    auto const count = static_cast<double>(acquired);
    return {{"clients", chosen.clients}, {"permits", 8},
            {"acquired", acquired},      {"second_rounds", moves},
            {"attempts", attempts},      {"one_round_share", 1 - static_cast<double>(moves + attempts - acquired) / count}};
}

}  // namespace

void add_permits(CLI::App& app)
{
    auto const chosen = std::make_shared<permit_choices>();
    auto& command = *app.add_subcommand("permits", "Permits of semaphores beside a lock with tokens");
    chosen->add_to(command);
    command.add_option("--permits", chosen->permits, "How many there are, one semaphore each")->capture_default_str();
    command.add_option("--rounds", chosen->rounds, "Acquisitions of each, one after the other")->capture_default_str();
    command.add_option("--clients", chosen->clients, "How many ask at once")->capture_default_str();
    command.callback(
        [chosen] { report(*chosen, "permits", {{"alone", measure_alone(*chosen)}, {"together", measure_together(*chosen)}}); });
}

}  // namespace bench
