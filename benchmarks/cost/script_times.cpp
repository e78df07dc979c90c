// What the scripts cost a server: its own count (INFO commandstats), one client, pipelined, many names; the best of several runs.
//
//     script_times [redis-server]
#include "../command_stats.hpp"
#include "pipeline.hpp"

#include "protocol/fence_scripts.hpp"
#include "support/redis_server.hpp"
#include "support/replication_info.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

using namespace redlock;
using testing::pipeline;
using testing::redis_server;
using testing::words;

constexpr std::size_t name_count = 3'000;
constexpr std::size_t batch_size = 100;
constexpr std::size_t pipeline_depth = 50;
constexpr int runs = 20;
constexpr std::int64_t day_us = 86'400'000'000;
std::string const value(32, 'v');

class tables {
public:
    explicit tables(std::string const& binary) : server_{{.binary = binary}}, line_{server_, pipeline_depth}
    {
        for (auto const* s : {&detail::fence_acquire_script(), &detail::fence_confirm_script(), &detail::fence_extend_script(),
                              &detail::fence_acquire_several_script(), &detail::extend_script(), &detail::release_script(),
                              &detail::acquire_several_script(), &detail::release_several_script()})
            server_.command({"SCRIPT", "LOAD", std::string{s->text}});
        id_ = testing::replication_info{server_.command({"INFO", "replication"})}.id;
        now_ = std::stoll(server_.ask({"TIME"}).items.at(0)) * 1'000'000 - day_us / 24;
        for (std::size_t i = 0; i < name_count; ++i) names_.push_back("bench:lock:" + std::to_string(100'000 + i));
    }

    void table()
    {
        auto const held = [&] { hold(value); };
        auto const taken = [&] { hold("somebody"); };
        auto const free_again = [&] { hold({}); };
        auto const empty = [&] { reset(); };
        std::printf("%-52s %8s\n", "call", "us/call");
        row("SET NX PX", "set", empty, each([](auto const& n, auto) { return words{"SET", n, value, "NX", "PX", "30000"}; }));
        row("acquire, a new name", "evalsha", empty, acquires(1));
        row("acquire, a name with a counter", "evalsha", free_again, acquires(1));
        row("acquire, refused", "evalsha", taken, acquires(1));
        row("acquire, 30 new names in a call (a name)", "evalsha", empty, acquires(30), 30);
        row("acquire, 30 names with counters in a call (a name)", "evalsha", free_again, acquires(30), 30);
        row("confirm", "evalsha", held, each([&](auto const& n, auto i) {
                return call(detail::fence_confirm_script(), lock_keys(n), {id_, value, token(i + 1), "604800000"});
            }));
        row("extend, one lease", "evalsha", held, extends(1, "0"));
        row("extend, one lease, retention renewed", "evalsha", held, extends(1, "1"));
        row("extend, 100 leases (a lease)", "evalsha", held, extends(batch_size, "0"), batch_size);
        row("extend, 100 leases, retention renewed (a lease)", "evalsha", held, extends(batch_size, "1"), batch_size);
        row("extend without tokens, one lease", "evalsha", held,
            each([](auto const& n, auto) { return call(detail::extend_script(), {n}, {value, "30000"}); }));
        row("release", "evalsha", held, each([](auto const& n, auto) { return call(detail::release_script(), {n}, {value}); }));
        row("INFO replication, a plain command", "info", empty, each([](auto const&, auto) { return words{"INFO", "replication"}; }));
        row("TIME, a plain command", "time", empty, each([](auto const&, auto) { return words{"TIME"}; }));
    }

    void table_of_several()
    {
        std::printf("\n%-26s %14s %14s\n", "acquire and release", "without tokens", "with tokens");
        for (std::size_t const keys : {1u, 2u, 3u, 10u}) {
            auto const plain = cost_of_turns(turns_without_tokens(keys));
            auto const fenced = cost_of_turns(turns_with_tokens(keys));
            std::printf("%2zu %-23s %14.2f %14.2f\n", keys, keys == 1 ? "name" : "names, one lock", plain, fenced);
            std::fflush(stdout);
        }
    }

private:
    static words lock_keys(std::string const& name) { return {name, name + ":fence", "redlock:node", "redlock:hw"}; }
    static words call(detail::script const& s, words const& keys, words const& arguments)
    {
        words command{"EVALSHA", s.sha1, std::to_string(keys.size())};
        command.insert(command.end(), keys.begin(), keys.end());
        command.insert(command.end(), arguments.begin(), arguments.end());
        return command;
    }
    std::string token(std::size_t i) const { return std::to_string(now_ + static_cast<std::int64_t>(i) * 7); }

    template <class F>
    std::vector<words> each(F make) const
    {
        std::vector<words> commands;
        for (std::size_t i = 0; i < names_.size(); ++i) commands.push_back(make(names_[i], i));
        return commands;
    }
    std::vector<words> acquires(std::size_t locks) const
    {
        std::vector<words> commands;
        for (std::size_t first = 0; first < name_count; first += locks) {
            words keys{"redlock:node", "redlock:hw"};
            words arguments{id_, "30000", "1", "604800000"};
            for (std::size_t i = first; i < first + locks; ++i) {
                keys.insert(keys.end(), {names_[i], names_[i] + ":fence"});
                arguments.insert(arguments.end(), {value, token(i + 1)});
            }
            commands.push_back(call(detail::fence_acquire_script(), keys, arguments));
        }
        return commands;
    }
    std::vector<words> extends(std::size_t leases, std::string const& refresh) const
    {
        std::vector<words> commands;
        for (std::size_t first = 0; first < name_count; first += leases) {
            words keys{"redlock:node", "redlock:hw"};
            words arguments{id_, "604800000", "1", refresh};
            for (std::size_t i = first; i < first + leases; ++i) {
                keys.insert(keys.end(), {names_[i], names_[i] + ":fence"});
                arguments.insert(arguments.end(), {value, token(i), "30000"});
            }
            commands.push_back(call(detail::fence_extend_script(), keys, arguments));
        }
        return commands;
    }

    // Names in groups of so many; for each group its acquire and its release.
    template <class F>
    std::vector<words> turns(std::size_t keys, F acquire) const
    {
        std::vector<words> commands;
        for (std::size_t first = 0; first + keys <= name_count; first += keys) {
            words const group(names_.begin() + static_cast<std::ptrdiff_t>(first),
                              names_.begin() + static_cast<std::ptrdiff_t>(first + keys));
            commands.push_back(acquire(group, first));
            commands.push_back(call(keys == 1 ? detail::release_script() : detail::release_several_script(), group, {value}));
        }
        return commands;
    }
    std::vector<words> turns_without_tokens(std::size_t keys) const
    {
        return turns(keys, [](words const& group, std::size_t) {
            if (group.size() == 1) return words{"SET", group[0], value, "NX", "PX", "30000"};
            return call(detail::acquire_several_script(), group, {value, "30000"});
        });
    }
    std::vector<words> turns_with_tokens(std::size_t keys) const
    {
        return turns(keys, [&](words const& group, std::size_t first) {
            words all{"redlock:node", "redlock:hw"};
            for (auto const& name : group) all.insert(all.end(), {name, name + ":fence"});
            if (group.size() == 1)
                return call(detail::fence_acquire_script(), all, {id_, "30000", "1", "604800000", value, token(first + 1)});
            return call(detail::fence_acquire_several_script(), all, {id_, value, "30000", token(first + 1), "1", "604800000"});
        });
    }
    // The time for an acquire and a release of names that have counters.
    double cost_of_turns(std::vector<words> const& commands)
    {
        double best = 1e9;
        for (int i = 0; i < runs; ++i) {
            hold({});
            server_.command({"CONFIG", "RESETSTAT"});
            line_.run(commands);
            // What a script calls is counted twice: as itself, and in the script.
            best = std::min(best, usec("evalsha") + (commands[0][0] == "SET" ? usec("set") : 0));
        }
        return best / (static_cast<double>(commands.size()) / 2);
    }

    void reset()
    {
        line_.run({{"FLUSHALL"},
                   {"SET", "redlock:node", id_ + ' ' + std::to_string(now_) + " 0000030000 -"},  // now: 16 digits, until the year 2286
                   {"SET", "redlock:hw", std::to_string(now_)}});
    }
    // Counters for all names, and locks if there is a holder.
    void hold(std::string const& holder)
    {
        reset();
        line_.run(each([&](auto const& n, auto i) { return words{"SET", n + ":fence", token(i), "PX", "604800000"}; }));
        if (!holder.empty()) line_.run(each([&](auto const& n, auto) { return words{"SET", n, holder, "PX", "30000"}; }));
    }

    void row(char const* what, std::string const& command, std::function<void()> const& prepare, std::vector<words> const& commands,
             std::size_t shared_by = 1)
    {
        double best = 1e9;
        for (int i = 0; i < runs; ++i) {
            prepare();
            server_.command({"CONFIG", "RESETSTAT"});
            line_.run(commands);
            best = std::min(best, usec_per_call(command));
        }
        std::printf("%-52s %8.2f\n", what, best / static_cast<double>(shared_by));
        std::fflush(stdout);
    }
    double usec_per_call(std::string const& command) const
    {
        auto const counted = bench::command_stats_of(server_)[command];
        if (counted.calls == 0) throw std::runtime_error{"no commandstats of " + command};
        return counted.usec / static_cast<double>(counted.calls);
    }
    double usec(std::string const& command) const { return bench::command_stats_of(server_)[command].usec; }

    redis_server server_;
    pipeline line_;
    std::string id_{};
    std::int64_t now_{0};
    words names_{};
};

}  // namespace

int main(int argc, char** argv)
try {
    tables all{argc > 1 ? argv[1] : "redis-server"};
    all.table();
    all.table_of_several();
} catch (std::exception const& e) {
    std::printf("error: %s\n", e.what());
    return 1;
}
