#include "workload.hpp"

#include "redis/fence_scripts.hpp"
#include "redis/scripts.hpp"

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <stdexcept>
#include <system_error>

#include <sched.h>
#include <unistd.h>

namespace bench {

namespace {

std::vector<int> processors()
{
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) throw std::system_error{errno, std::generic_category(), "sched_getaffinity"};
    std::vector<int> all;
    for (int i = 0; i < CPU_SETSIZE; ++i)
        if (CPU_ISSET(i, &allowed)) all.push_back(i);
    return all;
}

void pin(pid_t process, std::vector<int> const& to)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int const i : to) CPU_SET(i, &set);
    if (::sched_setaffinity(process, sizeof set, &set) != 0) throw std::system_error{errno, std::generic_category(), "sched_setaffinity"};
}

// The last processor is the clients'.
std::vector<int> servers_processors()
{
    auto all = processors();
    if (all.size() > 1) all.pop_back();
    return all;
}

// All nodes vote with tokens from now on.
void admit(ports const& at)
{
    forked{[&at] {
        asio::io_context io{1};
        redlock::client nodes{io.get_executor(), bootstrap_config(at)};
        nodes.run(asio::detached);
        redlock::lock const first{nodes, "the-first-lock"};
        auto story = [&]() -> asio::awaitable<void> {
            auto connecting = usable(nodes);
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
        asio::co_spawn(io, story(), [](std::exception_ptr e) {
            if (e) std::rethrow_exception(e);
        });
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

void measure(asio::io_context& io, workload const& what, meter const& figures)
{
    run_for(io, what.measured);
    for (auto const end = steady::now() + busy_machine_max; figures.is_empty() && steady::now() < end;) run_for(io, 10ms);
}

[[gnu::noinline]] void counted_turn(std::function<void()> const& turn)
{
    turn();
    asm volatile("" ::: "memory");  // so that the call is no jump, behind which nothing would be counted
}

void measure_in_step(workload const& what, meter& figures, std::function<void()> const& turn)
{
    auto const run = [&](std::size_t pairs, std::function<void()> const& one) {
        auto const last = figures.pairs() + pairs;
        auto end = steady::now() + busy_machine_max;
        while (figures.pairs() < last) {
            auto const before = figures.pairs();
            one();
            what.in_step->next();
            if (figures.pairs() != before) end = steady::now() + busy_machine_max;
            if (steady::now() > end) throw std::runtime_error{"nobody comes round any more"};
        }
    };
    run(what.pairs / 4, turn);
    if (what.at_begin) what.at_begin();
    figures.begin();
    figures.pause();
    run(what.pairs, [&] {
        figures.resume();
        counted_turn(turn);
        figures.pause();
    });
}

void use_all_processors()
{
    std::vector<int> all;
    for (int i = 0; i < CPU_SETSIZE; ++i) all.push_back(i);
    pin(0, all);
}

void keep_off_the_clients_processor() { pin(0, servers_processors()); }

namespace {

// One each if there are enough, otherwise the kernel shares them among the servers.
void pin_all_apart(auto const& servers)
{
    auto const rest = servers_processors();
    for (std::size_t i = 0; i < servers.size(); ++i)
        pin(servers[i].pid(), servers.size() <= rest.size() ? std::vector<int>{rest[i]} : rest);
}

}  // namespace

void pin_apart(fleet const& servers) { pin_all_apart(servers); }
void pin_apart(std::deque<redlock::testing::redis_server> const& servers) { pin_all_apart(servers); }

redlock::config workload::settings() const
{
    if (!cluster.empty()) {
        redlock::config settings = redlock::config::from_urls({cluster});
        settings.bootstrap = true;
        return settings;
    }
    redlock::config settings = bootstrap_config(at);
    if (!sharded) return settings;
    for (auto& node : settings.nodes) settings.shards.push_back({std::move(node)});
    settings.nodes.clear();
    return settings;
}

// Keys of a worker that has ended may still be locked, so the next one has others of the same length.
std::string workload::key(std::size_t caller, std::size_t name) const
{
    auto const padded = [](std::string digits, std::size_t width) {
        return std::string(width - std::min(width, digits.size()), '0') + digits;
    };
    return "speed:" + padded(std::to_string(::getpid()), 7) + ":" + padded(std::to_string(caller * names + name), 6);
}

testbed::testbed(std::size_t nodes) : servers_{nodes}
{
    pin_apart(servers_);
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

void run_apart(void* result, std::size_t size, std::function<void()> const& body)
{
    int ends[2];
    if (::pipe(ends) != 0) throw std::system_error{errno, std::generic_category(), "pipe"};
    forked worker{[&] {
        pin(0, {processors().back()});
        body();
        if (::write(ends[1], result, size) != static_cast<ssize_t>(size)) throw std::runtime_error{"the pipe is closed"};
    }};
    ::close(ends[1]);
    ssize_t const got = ::read(ends[0], result, size);
    ::close(ends[0]);
    worker.join();
    if (got != static_cast<ssize_t>(size)) throw std::runtime_error{"a worker said nothing"};
}

}  // namespace bench
