// Uses many names once each, through the real client, and waits until the server has forgotten them.
//
//     retention [--names N]
#include "support/redis_server.hpp"

#include <redlock/redlock.hpp>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>

namespace {

using namespace redlock;
using namespace std::chrono_literals;
using testing::redis_server;

constexpr std::size_t workers = 256;
constexpr auto retention = 20s;

struct progress {
    std::uint64_t names;
    std::uint64_t next{0};
    std::uint64_t done{0};
    std::size_t working{workers};
};

asio::awaitable<void> use_names(client& nodes, progress& p)
{
    while (p.next < p.names) {
        lock const resource{nodes, "order:" + std::to_string(p.next++), {.ttl = 5s, .node_timeout = 5s}};
        auto acquisition = resource.acquire(asio::use_awaitable);
        lease held = co_await std::move(acquisition);
        auto release = held.release(asio::use_awaitable);
        co_await std::move(release);
        ++p.done;
    }
}

std::uint64_t keys(redis_server const& server) { return std::stoull(server.command({"DBSIZE"}, 30s)); }

double in_seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }

int run(std::uint64_t names)
{
    redis_server server;
    config settings = config::from_urls({server.url()});
    settings.bootstrap = true;
    settings.max_ttl = 5s;
    settings.token_retention = retention;
    asio::io_context io;
    client nodes{io.get_executor(), settings};
    nodes.run(asio::detached);
    progress p{names};
    auto const begin = std::chrono::steady_clock::now();
    for (std::size_t i = 0; i < workers; ++i) {
        asio::co_spawn(io, use_names(nodes, p), [&](std::exception_ptr failure) {
            if (failure) std::rethrow_exception(failure);
            if (--p.working == 0) nodes.cancel();
        });
    }
    io.run();
    auto const used = std::chrono::steady_clock::now();
    std::printf("%llu names used once in %.1f s; %llu keys on the server\n", static_cast<unsigned long long>(p.done),
                in_seconds(used - begin), static_cast<unsigned long long>(keys(server)));
    // The server deletes what has expired in its own time. The records of the node and of its set and the high-water mark stay.
    asio::steady_timer timer{io};
    std::uint64_t left = keys(server);
    for (auto const end = used + retention + 120s; left > 3 && std::chrono::steady_clock::now() < end; left = keys(server)) {
        timer.expires_after(100ms);
        timer.wait();
    }
    std::printf("after the retention of %lld s and %.1f s: %llu keys:", static_cast<long long>(retention / 1s),
                std::max(0.0, in_seconds(std::chrono::steady_clock::now() - used - retention)), static_cast<unsigned long long>(left));
    for (auto const& key : server.ask({"KEYS", "*"}).items) std::printf(" %s", key.c_str());
    std::printf("\n");
    return left == 3 && p.done == names ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv)
{
    std::uint64_t names = 1'000'000;
    CLI::App app{"Uses many names once each and waits until the server has forgotten them."};
    app.add_option("--names", names, "How many")->check(CLI::PositiveNumber);
    CLI11_PARSE(app, argc, argv);
    try {
        return run(names);
    } catch (std::exception const& e) {
        std::fprintf(stderr, "retention: %s\n", e.what());
        return 1;
    }
}
