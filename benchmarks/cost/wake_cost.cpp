// What it costs a server to say that a lock is free, in the ways that Redis has for it: CPU time of its main thread (INFO cpu), and
// what others are told. One connection takes and releases locks with tokens; nineteen others wait for some names, or do not.
//
//     wake_cost [commands in one message] [redis-server]
#include "pipeline.hpp"

#include "protocol/fence_scripts.hpp"
#include "protocol/scripts.hpp"
#include "support/redis_server.hpp"
#include "support/replication_info.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <deque>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace redlock;
using testing::pipeline;
using testing::redis_server;
using testing::words;

constexpr std::size_t lock_count = 3'000;
constexpr std::size_t waiter_count = 19;
constexpr int runs = 3;
constexpr int passes = 5;  // over all rows: a machine has better and worse times
std::string const value(32, 'v');
std::string const ttl_ms = "30000";

enum class way { nothing, optin, tracking, bcast_all, bcast_names, notifications };

char const* to_string(way w)
{
    switch (w) {
    case way::nothing: return "nothing";
    case way::optin: return "tracking OPTIN (as built)";
    case way::tracking: return "tracking, default mode";
    case way::bcast_all: return "BCAST, one prefix for all locks";
    case way::bcast_names: return "BCAST, a prefix for each name";
    case way::notifications: return "keyspace notifications";
    }
    return "?";
}

struct cost {
    double us{1e9};
    double pushes{0};
    double names{0};
};

// A server, and connections that have made their handshake for one way.
class bench {
public:
    bench(std::string const& binary, std::size_t depth, way w, std::size_t waited_for)
        : way_{w}, server_{{.binary = binary}}, worker_{server_, depth}
    {
        for (auto const* s : {&detail::fence_acquire_script(), &detail::release_script()})
            server_.command({"SCRIPT", "LOAD", std::string{s->text}});
        id_ = testing::replication_info{server_.command({"INFO", "replication"})}.id;
        worker_.run({{"SET", "redlock:node", id_ + " 0000000000001000 0000030000 -"}, {"SET", "redlock:hw", "1000"}});
        if (w == way::notifications) server_.command({"CONFIG", "SET", "notify-keyspace-events", "Kg$x"});
        for (std::size_t i = 0; i < waiter_count; ++i) waiters_.emplace_back(server_, 50);
        for (std::size_t i = 0; i < lock_count; ++i) locks_.push_back("bench:lock:" + std::to_string(1'000'000 + i));
        for (std::size_t i = 0; i < waited_for; ++i) names_.push_back("bench:wait:" + std::to_string(1'000'000 + i));
        shake_hands(worker_);
        for (auto& each : waiters_) shake_hands(each);
        for (std::size_t i = 0; i < names_.size(); ++i) wait_for(waiters_[i % waiter_count], names_[i]);
    }

    // Locks that nobody waits for are taken and released.
    cost uncontended()
    {
        return best([] {}, pairs());
    }

    // Somebody waits for each of them: watches it, and is told of its release.
    cost handed_over()
    {
        worker_.run(acquires());
        if (way_ == way::notifications)
            for (auto const& name : locks_) waiters_.front().subscribe("__keyspace@0__:" + name);
        auto const watch = [this] {
            std::vector<words> commands;
            for (auto const& name : locks_) append_watch(commands, name);
            waiters_.front().run(commands);
        };
        std::vector<words> commands;
        for (auto const& name : locks_) {
            commands.push_back(release(name));
            commands.push_back(acquire(name));
        }
        return best(watch, commands);
    }

    std::size_t armed() const
    {
        auto const stats = server_.command({"INFO", "stats"});
        return std::stoul(stats.substr(stats.find("tracking_total_keys:") + 20));
    }

private:
    static words call(detail::script const& s, words const& keys, words const& arguments)
    {
        words command{"EVALSHA", s.sha1, std::to_string(keys.size())};
        command.insert(command.end(), keys.begin(), keys.end());
        command.insert(command.end(), arguments.begin(), arguments.end());
        return command;
    }
    words acquire(std::string const& name) const
    {
        return call(detail::fence_acquire_script(), {"redlock:node", "redlock:hw", name, name + ":fence"},
                    {id_, ttl_ms, "1", "604800000", value, "0"});
    }
    static words release(std::string const& name) { return call(detail::release_script(), {name}, {value}); }
    std::vector<words> acquires() const
    {
        std::vector<words> commands;
        for (auto const& name : locks_) commands.push_back(acquire(name));
        return commands;
    }
    std::vector<words> pairs() const
    {
        std::vector<words> commands;
        for (auto const& name : locks_) {
            commands.push_back(acquire(name));
            commands.push_back(release(name));
        }
        return commands;
    }

    void shake_hands(pipeline& c) const
    {
        switch (way_) {
        case way::optin: return c.run({{"CLIENT", "TRACKING", "ON", "OPTIN", "NOLOOP"}});
        case way::tracking: return c.run({{"CLIENT", "TRACKING", "ON", "NOLOOP"}});
        case way::bcast_all: return c.run({{"CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP", "PREFIX", "bench:"}});
        case way::bcast_names:
        case way::notifications:
        case way::nothing: return;
        }
    }

    void append_watch(std::vector<words>& to, std::string const& name) const
    {
        switch (way_) {
        case way::optin: to.push_back({"CLIENT", "CACHING", "YES"}); [[fallthrough]];
        case way::tracking:
        case way::bcast_all:
        case way::bcast_names: to.push_back({"PTTL", name}); return;
        case way::notifications: to.push_back({"PTTL", name}); return;
        case way::nothing: return;
        }
    }

    void wait_for(pipeline& c, std::string const& name) const
    {
        if (way_ == way::bcast_names) return c.run({{"CLIENT", "TRACKING", "ON", "BCAST", "NOLOOP", "PREFIX", name}});
        std::vector<words> commands;
        append_watch(commands, name);
        c.run(commands);
        if (way_ == way::notifications) c.subscribe("__keyspace@0__:" + name);
    }

    template <class Prepare>
    cost best(Prepare const& prepare, std::vector<words> const& commands)
    {
        cost least;
        for (int i = 0; i < runs; ++i) {
            for (auto& each : waiters_) each.take_told();
            auto const before = cpu_us();
            prepare();
            worker_.run(commands);
            auto const spent = cpu_us() - before;
            auto told = worker_.take_told();
            for (auto& each : waiters_) {
                auto const more = each.take_told();
                told.pushes += more.pushes;
                told.names += more.names;
            }
            least.us = std::min(least.us, spent / static_cast<double>(lock_count));
            least.pushes = static_cast<double>(told.pushes) / static_cast<double>(lock_count);
            least.names = static_cast<double>(told.names) / static_cast<double>(lock_count);
        }
        return least;
    }

    double cpu_us() const
    {
        auto const text = server_.command({"INFO", "cpu"});
        double sum = 0;
        for (std::string const name : {"used_cpu_sys_main_thread:", "used_cpu_user_main_thread:"})
            sum += std::stod(text.substr(text.find(name) + name.size()));
        return sum * 1e6;
    }

    way way_;
    redis_server server_;
    pipeline worker_;
    std::deque<pipeline> waiters_;
    std::string id_;
    words locks_;
    words names_;
};

struct row {
    way by;
    std::size_t others;  // names that somebody waits for, and that are not the worker's
    bool waited_for;     // the worker's
    cost least{};
    std::size_t armed{0};

    void measure(std::string const& binary, std::size_t depth)
    {
        bench b{binary, depth, by, others};
        auto const c = waited_for ? b.handed_over() : b.uncontended();
        least = {std::min(least.us, c.us), c.pushes, c.names};
        armed = b.armed();
    }

    void print() const
    {
        std::printf("%-34s %10zu %8.2f %8.2f %8.2f %8zu\n", to_string(by), others, least.us, least.pushes, least.names, armed);
    }
};

}  // namespace

int main(int argc, char** argv)
try {
    std::size_t const depth = argc > 1 ? std::stoul(argv[1]) : 1;
    std::string const binary = argc > 2 ? argv[2] : "redis-server";
    std::vector<row> rows;
    for (way const w : {way::nothing, way::optin, way::tracking, way::bcast_all, way::bcast_names, way::notifications})
        for (std::size_t const names : {0u, 1u, 100u, 10'000u})
            if (names == 0 || w != way::nothing) rows.push_back({w, names, false});
    for (way const w : {way::nothing, way::optin, way::tracking, way::bcast_all, way::notifications}) rows.push_back({w, 0, true});
    for (int i = 0; i < passes; ++i)
        for (row& each : rows) each.measure(binary, depth);

    std::printf("%zu commands in a message\n", depth);
    std::printf("%-34s %10s %8s %8s %8s %8s\n", "locks that nobody waits for", "others", "us/pair", "pushes", "names", "armed");
    for (row const& each : rows)
        if (!each.waited_for) each.print();
    std::printf("\nlocks with one waiter each\n");
    for (row const& each : rows)
        if (each.waited_for) each.print();
} catch (std::exception const& e) {
    std::printf("error: %s\n", e.what());
    return 1;
}
