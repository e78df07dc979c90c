#include "testbed.hpp"

#include "processors.hpp"

#include "protocol/fence_scripts.hpp"
#include "protocol/scripts.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <stdexcept>

namespace bench {

namespace {

// All nodes vote with tokens from now on.
void admit(ports const& at)
{
    forked{[&at] {
        asio::io_context io{1};
        redlock::client nodes{io.get_executor(), bootstrap_config(at)};
        nodes.run(asio::detached);
        redlock::lock const first{nodes, "the-first-lock"};
        auto story = [&]() -> asio::awaitable<void> {
            auto connecting = wait_until_usable(nodes);
            co_await std::move(connecting);
            auto acquisition = first.acquire(asio::use_awaitable);
            redlock::lease held = co_await std::move(acquisition);
            auto release = held.release(asio::use_awaitable);
            co_await std::move(release);
            auto const admitted = [](redlock::node_status const& n) { return n.admission == redlock::admission_state::admitted; };
            for (auto const end = steady::now() + 10s; !std::ranges::all_of(nodes.status().nodes, admitted);) {
                if (steady::now() > end) throw std::runtime_error{"the nodes were not admitted"};
                auto waiting = pause(5ms);
                co_await std::move(waiting);
            }
            nodes.cancel();
        };
        asio::co_spawn(io, story(), rethrow);
        io.run();
    }}.join();
}

std::string id_of(redlock::testing::redis_server const& server)
{
    std::string const text = server.command({"INFO", "replication"});
    std::string const field = "master_replid:";
    auto const at = text.find(field);
    if (at == std::string::npos) throw std::runtime_error{"a server does not say which one it is"};
    return text.substr(at + field.size(), 40);
}

}  // namespace

testbed::testbed(std::size_t nodes) : servers_{nodes}
{
    pin_servers(servers_);
    admit(servers_.ports());
    for (std::size_t i = 0; i < nodes; ++i) {
        for (auto const* s : {&redlock::detail::release_script(), &redlock::detail::fence_acquire_script()})
            servers_[i].command({"SCRIPT", "LOAD", std::string{s->text}});
        ids_.push_back(id_of(servers_[i]));
    }
}

workload testbed::work(std::size_t callers, bool fencing) const
{
    workload what;
    what.at = servers_.ports();
    what.ids = ids_;
    what.callers = callers;
    what.fencing = fencing;
    return what;
}

}  // namespace bench
