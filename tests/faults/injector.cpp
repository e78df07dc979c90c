#include "injector.hpp"

#include "timing.hpp"

#include <chrono>
#include <functional>
#include <stdexcept>
#include <string>

#include <poll.h>

namespace redlock::faults {
namespace {

void eventually(std::string const& what, std::function<bool()> const& condition)
{
    auto const deadline = std::chrono::steady_clock::now() + patience;
    while (!condition()) {
        if (std::chrono::steady_clock::now() > deadline) throw std::runtime_error{what + " does not happen"};
        ::poll(nullptr, 0, 5);
    }
}

}  // namespace

void injector::inject(fault const& what)
{
    using enum fault_kind;
    auto const length = what.length;
    auto const count = static_cast<std::size_t>(what.size < 0 ? -what.size : what.size);
    auto const server = [&](std::size_t node) -> testing::redis_server& { return servers_.server(node); };
    auto const command = [&](std::vector<std::string> const& words) {
        each_node(what, [&](std::size_t node) { server(node).command(words, patience); });
    };
    auto const link = [&](testing::link_rule const& rule) { each_node(what, [&](std::size_t node) { servers_.proxy().set(node, rule); }); };
    auto const packets = [&](packet_rule const& rule) { each_node(what, [&](std::size_t node) { wire_->set(node, rule); }); };
    switch (what.kind) {
    case kill_without_memory:
    case kill_rdb:
    case kill_everysec:
    case kill_always:
    case kill_majority: return each_node(what, [&](std::size_t node) { server(node).kill(); });
    case stop_server:
    case stop_majority: return each_node(what, [&](std::size_t node) { server(node).stop(); });
    case stop_worker: return workers_.stop(what.worker);
    case kill_worker: return workers_.kill(what.worker);
    case cut: return each_node(what, [&](std::size_t node) { servers_.proxy().cut(node); });
    case half_open: return link({.to_server = {}, .to_client = {.swallowed = true}});
    case delayed: return link({.to_server = {.delay = milliseconds{count}}, .to_client = {.delay = milliseconds{count}}});
    case throttled: return link({.to_server = {.bytes_per_second = count}, .to_client = {.bytes_per_second = count}});
    case late: return link({.to_server = {.held = true}, .to_client = {}});
    case packet_loss: return packets({.loss_percent = count});
    case packet_delay: return packets({.max_delay = milliseconds{count}});
    case partition: return packets({.blocked = true});
    case client_pause: return command({"CLIENT", "PAUSE", std::to_string(length.count()), "ALL"});
    case debug_sleep: return command({"DEBUG", "SLEEP", std::to_string(static_cast<double>(length.count()) / 1'000)});
    case client_kill: return command({"CLIENT", "KILL", "TYPE", "normal"});
    case flush_all: return command({"FLUSHALL"});
    case delete_lock: return delete_locks(what);
    case script_flush: return command({"SCRIPT", "FLUSH"});
    case out_of_memory: return command({"CONFIG", "SET", "maxmemory", "1"});
    case replica_attached:
        return void(
            servers_.spare().command({"REPLICAOF", server(what.nodes[0]).host(), std::to_string(server(what.nodes[0]).port())}, patience));
    case demoted: return demote(server(what.nodes[0]));
    case clock_forward:
    case clock_backward: return each_node(what, [&](std::size_t node) { servers_.clock(node).step(milliseconds{what.size}); });
    case clock_fast:
    case clock_drift: return each_node(what, [&](std::size_t node) { servers_.clock(node).slew(what.size); });
    }
}

void injector::heal(fault const& what)
{
    using enum fault_kind;
    auto const server = [&](std::size_t node) -> testing::redis_server& { return servers_.server(node); };
    switch (what.kind) {
    case kill_majority: each_node(what, [&](std::size_t node) { server(node).restart(); }); return servers_.begin_anew();
    case kill_without_memory:
    case kill_rdb:
    case kill_everysec:
    case kill_always: return each_node(what, [&](std::size_t node) { server(node).restart(); });
    case stop_server:
    case stop_majority: return each_node(what, [&](std::size_t node) { server(node).resume(); });
    case stop_worker: return workers_.resume(what.worker);
    case kill_worker: return workers_.replace(what.worker);
    case half_open:
        return each_node(what, [&](std::size_t node) {
            servers_.proxy().set(node, {});
            servers_.proxy().cut(node);
        });
    case delayed:
    case throttled:
    case late: return each_node(what, [&](std::size_t node) { servers_.proxy().set(node, {}); });
    case packet_loss:
    case packet_delay:
    case partition: return each_node(what, [&](std::size_t node) { wire_->set(node, {}); });
    case client_pause:
        return each_node(what, [&](std::size_t node) { server(node).command({"PING"}, patience); });  // answered when it is over
    case out_of_memory:
        return each_node(what, [&](std::size_t node) { server(node).command({"CONFIG", "SET", "maxmemory", "0"}, patience); });
    case replica_attached: return void(servers_.spare().command({"REPLICAOF", "NO", "ONE"}, patience));
    case demoted: return void(server(what.nodes[0]).command({"REPLICAOF", "NO", "ONE"}, patience));
    case clock_forward:
    case clock_backward: return each_node(what, [&](std::size_t node) { servers_.clock(node).step(-milliseconds{what.size}); });
    case clock_fast:
    case clock_drift: return each_node(what, [&](std::size_t node) { servers_.clock(node).slew(0); });
    case cut:
    case debug_sleep:
    case client_kill:
    case delete_lock:
    case script_flush: return;  // over by itself
    case flush_all:
        if (what.nodes.size() > minority) servers_.begin_anew();
        return;
    }
}

// The workers hold locks most of the time, but not always.
void injector::delete_locks(fault const& what)
{
    std::size_t deleted = 0;
    eventually("a lock being held", [&] {
        each_node(what, [&](std::size_t node) {
            auto keys = servers_.locks(node);
            if (keys.empty()) return;
            keys.insert(keys.begin(), "DEL");
            deleted += std::stoul(servers_.server(node).command(keys, patience));
        });
        return deleted > 0;
    });
}

void injector::demote(testing::redis_server& server)
{
    auto& empty = servers_.spare();
    empty.command({"FLUSHALL"}, patience);
    server.command({"REPLICAOF", empty.host(), std::to_string(empty.port())}, patience);
    eventually("the replica being in step",
               [&] { return server.command({"INFO", "replication"}, patience).find("master_link_status:up") != std::string::npos; });
}

}  // namespace redlock::faults
