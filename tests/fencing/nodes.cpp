#include "nodes.hpp"

#include "support/replication_info.hpp"

#include <chrono>
#include <filesystem>
#include <stdexcept>

#include <poll.h>

namespace redlock::fencing {

namespace {

using namespace std::chrono_literals;

constexpr int asks_per_connection = 20'000;
constexpr auto connection_lifetime = 120s;  // resp_client's bound for all that is done with it

testing::redis_server_options options()
{
    testing::redis_server_options o;
    o.arguments = {"--enable-debug-command", "yes", "--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0"};
    return o;
}

std::string without(std::string_view text, std::string_view part)
{
    std::string changed{text};
    auto const at = changed.find(part);
    if (at == std::string::npos) throw std::logic_error{"the mutant no longer fits the script: " + std::string{part}};
    return changed.erase(at, part.size());
}

}  // namespace

script_set const& scripts_of(mutant m)
{
    auto const& acquire = detail::fence_acquire_script();
    auto const& confirm = detail::fence_confirm_script();
    auto const& extend = detail::fence_extend_script();
    static std::string const confirm_unguarded = without(
        confirm.text, "if counter > token or tonumber(string.sub(node, 42, 57)) > token then return -2 end\n");
    static std::string const extend_unguarded = without(
        extend.text, "  elseif base > guard or counter > guard and not marked then answer = -100 - math.max(counter, base)\n");
    static script_set const real{acquire, confirm, extend};
    static script_set const unguarded{acquire, detail::make_script(confirm_unguarded), detail::make_script(extend_unguarded)};
    return m == mutant::no_guard ? unguarded : real;
}

node::node() : server_{options()} { connect(); }

void node::connect()
{
    asked_ = 0;
    line_.emplace(testing::loopback::ipv4, server_.port(), std::chrono::milliseconds{connection_lifetime});
}

testing::resp_reply node::ask(words const& command)
{
    if (++asked_ > asks_per_connection) connect();
    return line_->ask(command);
}

testing::resp_reply node::run(detail::script const& s, words const& keys, words const& arguments)
{
    words command{"EVALSHA", s.sha1, std::to_string(keys.size())};
    command.insert(command.end(), keys.begin(), keys.end());
    command.insert(command.end(), arguments.begin(), arguments.end());
    auto answer = ask(command);
    if (answer.is_error() && answer.text.starts_with("NOSCRIPT")) {
        ask({"SCRIPT", "LOAD", std::string{s.text}});
        answer = ask(command);
    }
    return answer;
}

identity node::look()
{
    testing::replication_info const shown{ask({"INFO", "replication"}).text};
    return {shown.id, shown.role == "master"};
}

shown_by_server node::show(std::string const& name)
{
    constexpr std::string_view nil = "(nil)";
    auto const stored = ask({"MGET", name, name + ":fence", "redlock:node", "redlock:hw"}).items;
    auto const is_there = [&stored, nil](std::size_t i) { return stored.at(i) != nil; };
    shown_by_server s;
    s.id = look().id;
    if (is_there(0)) s.key = stored[0];
    if (is_there(1)) s.counter = stored[1];
    if (is_there(3)) s.high_water = std::stoll(stored[3]);
    if (!is_there(2)) return s;
    std::string const& record = stored[2];  // id, base, longest ttl, mark
    s.base = std::stoll(record.substr(41, 16));
    s.max_ttl = std::stoll(record.substr(58, 10));
    s.mark = record.substr(69);
    std::string const of = record.substr(0, 40);
    if (is_there(3) && of != std::string(40, '0')) s.record = of;
    return s;
}

bool node::admitted()
{
    auto const facts = run(detail::inspect_script(), {"redlock:node", "redlock:hw"}, {});
    return facts.items.size() == 11 && facts.items[1] == "master" && !facts.items[5].empty() && facts.items[4].starts_with(facts.items[0]);
}

void node::reset()
{
    connect();  // with a fresh deadline
    auto const seen = look();
    ask({"FLUSHALL"});
    std::filesystem::remove(server_.folder() / "dump.rdb");  // of a schedule before this one
    auto const marked = run(detail::mark_script(), {"redlock:node", "redlock:hw"}, {seen.id, "start"});
    auto const answer = run(detail::admit_script(), {"redlock:node", "redlock:hw"},
                            {seen.id, std::to_string(first_base), std::to_string(maxttl_ms), marked.items.at(1)});
    if (answer.text != "1") throw std::runtime_error{"a new server could not be admitted: " + answer.to_string()};
    memory_ = {};
}

void node::remember(std::string const& name, bool in_a_file)
{
    memory_ = ask({"MGET", name, name + ":fence", "redlock:node", "redlock:hw"}).items;
    memory_.push_back(name);
    if (in_a_file) ask({"SAVE"});
}

void node::lose(loss what, std::string const& name, testing::redis_server& empty)
{
    switch (what) {
    case loss::flush: ask({"FLUSHALL"}); break;
    case loss::forget:
        ask({"FLUSHALL"});
        ask({"DEBUG", "CHANGE-REPL-ID"});
        break;
    case loss::roll_back: {
        ask({"FLUSHALL"});
        words const keys{name, name + ":fence", "redlock:node", "redlock:hw"};
        for (std::size_t i = 0; i < keys.size() && memory_.size() > keys.size(); ++i)
            if (memory_[i] != "(nil)") ask({"SET", keys[i], memory_[i]});
        ask({"DEBUG", "CHANGE-REPL-ID"});
        break;
    }
    case loss::false_alarm: ask({"DEBUG", "CHANGE-REPL-ID"}); break;
    case loss::restart: std::filesystem::remove(server_.folder() / "dump.rdb"); [[fallthrough]];
    case loss::restart_from_file:
        server_.restart();
        connect();
        break;
    case loss::demote: demote(empty); break;
    }
}

void node::demote(testing::redis_server& empty)
{
    constexpr int max_looks = 2'000;
    ask({"REPLICAOF", empty.host(), std::to_string(empty.port())});
    bool up = false;
    for (int i = 0; i < max_looks && !up; ++i) {
        up = ask({"INFO", "replication"}).text.find("master_link_status:up") != std::string::npos;
        if (!up) ::poll(nullptr, 0, 5);
    }
    if (!up) throw std::runtime_error{"the replica was not in step within ten seconds"};
    ask({"REPLICAOF", "NO", "ONE"});
}

}  // namespace redlock::fencing
