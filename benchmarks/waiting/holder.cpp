// A process that holds locks with this library, driven by the lines that tests/interop/holder.mjs understands:
// acquire NAME TTL, release, quit.
#include "measurements.hpp"
#include "fleet.hpp"
#include "loop.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <iostream>
#include <memory>
#include <sstream>

#include <unistd.h>

namespace bench {
namespace {

void say(char const* word, steady::time_point at) { std::cout << word << ' ' << at.time_since_epoch() / 1ns << std::endl; }

asio::awaitable<void> obey(redlock::client& nodes, redlock::lock_options options)
{
    asio::posix::stream_descriptor input{co_await asio::this_coro::executor, ::dup(STDIN_FILENO)};
    auto connecting = wait_until_usable(nodes);
    co_await std::move(connecting);
    say("ready", steady::now());
    redlock::lease held;
    for (std::string heard;;) {
        auto reading = asio::async_read_until(input, asio::dynamic_buffer(heard), '\n', asio::use_awaitable);
        std::size_t const size = co_await std::move(reading);
        std::istringstream line{heard.substr(0, size)};
        heard.erase(0, size);
        std::string verb;
        line >> verb;
        if (verb == "acquire") {
            std::string name;
            std::int64_t ttl = 0;
            line >> name >> ttl;
            options.ttl = std::chrono::milliseconds{ttl};
            auto acquisition = redlock::lock{nodes, name, options}.acquire(asio::use_awaitable);
            held = co_await std::move(acquisition);
            say("held", steady::now());
        } else if (verb == "release") {
            auto const before = steady::now();
            auto release = held.release(asio::as_tuple(asio::use_awaitable));
            auto const [ec] = co_await std::move(release);
            auto draining = nodes.drain(asio::use_awaitable);
            co_await std::move(draining);
            say(ec ? "unconfirmed" : "released", before);
        } else {
            co_return;
        }
    }
}

}  // namespace

void add_holder(CLI::App& app)
{
    struct holder_choices {
        bool plain{false};
        bench::ports at;
    };
    auto const chosen = std::make_shared<holder_choices>();
    auto& command = *app.add_subcommand("holder")->group("");
    command.add_flag("--plain", chosen->plain);
    command.add_option("ports", chosen->at)->required();
    command.callback([chosen] {
        asio::io_context io{1};
        redlock::client nodes{io.get_executor(), bootstrap_config(chosen->at)};
        nodes.run(asio::detached);
        asio::co_spawn(io, obey(nodes, {.fencing = !chosen->plain}), [&](std::exception_ptr) { nodes.cancel(); });
        io.run();
    });
}

}  // namespace bench
