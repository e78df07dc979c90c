// What the client's messages cost a server, from its own count (INFO commandstats), for each way of making sure which server it is:
// one node, a number of callers that acquire, extend and release in turns.
//
//     client_cost
#include "../command_stats.hpp"
#include "support/redis_server.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using testing::redis_server;

constexpr std::uint64_t turns = 60'000;  // in all

asio::awaitable<void> take_turns(client& nodes, std::uint64_t caller, std::uint64_t count, lock_options options)
{
    lock const resource{nodes, "order:" + std::to_string(caller), options};
    for (std::uint64_t i = 0; i < count; ++i) {
        auto acquisition = resource.acquire(asio::use_awaitable);
        lease held = co_await std::move(acquisition);
        auto extension = held.extend(asio::use_awaitable);
        co_await std::move(extension);
        auto release = held.release(asio::use_awaitable);
        co_await std::move(release);
    }
}

void measure(char const* title, bool fencing, identity_check identity, std::uint64_t callers)
{
    redis_server server;
    config settings = config::from_urls({server.url()});
    settings.bootstrap = true;
    settings.identity = identity;
    asio::io_context io;
    client nodes{io.get_executor(), settings};
    nodes.run(asio::detached);
    lock_options const options{.ttl = 20s, .fencing = fencing, .node_timeout = 5s};
    auto const run = [&](std::uint64_t count) {
        std::uint64_t working = callers;
        for (std::uint64_t i = 0; i < callers; ++i)
            asio::co_spawn(io, take_turns(nodes, i, count, options), [&](std::exception_ptr failure) {
                if (failure) std::rethrow_exception(failure);
                --working;
            });
        while (working > 0) io.run_one();
    };
    run(1);
    server.command({"CONFIG", "RESETSTAT"});
    run(turns / callers);
    auto stats = bench::command_stats_of(server);
    auto const info = stats["info"];
    double const sum = stats["evalsha"].usec + stats["set"].usec + info.usec;
    std::printf("%-38s %7llu %10.2f %14.3f\n", title, static_cast<unsigned long long>(callers), sum / turns,
                static_cast<double>(info.calls) / turns);
    std::fflush(stdout);
    nodes.cancel();
    io.run();
}

}  // namespace

int main()
try {
    std::printf("%-38s %7s %10s %14s\n", "acquire, extend, release", "callers", "us a turn", "INFOs a turn");
    for (std::uint64_t const callers : {1u, 16u, 256u}) {
        measure("tokens, identity with every message", true, identity_check::every_message, callers);
        measure("tokens, identity at the handshake", true, identity_check::handshake, callers);
        measure("without tokens", false, identity_check::every_message, callers);
    }
} catch (std::exception const& e) {
    std::printf("error: %s\n", e.what());
    return 1;
}
