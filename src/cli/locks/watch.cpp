// `redlock watch`: shows the state of locks again and again, until the user stops it. It also shows how often each lock changed hands meanwhile, and
// for how long its holder has had it. It cannot show the waiters for a lock, since the servers do not know that. Of readers, it shows
// that a writer waits. A semaphore is one line, with the holders of its slots. A lock that has the semaphore's name is another line, if anybody has it.
#include "cli/locks/lock_view_text.hpp"
#include "cli/locks/semaphore_text.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/table.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

namespace {

using nlohmann::ordered_json;

std::string now_text()
{
    return local_time(static_cast<std::uint64_t>(std::chrono::system_clock::to_time_t(std::chrono::system_clock::now())));
}

// The holders of one lock so far.
struct history {
    std::string last;  // the last holder: key_view::id() of its value; empty: no holder
    std::uint64_t turns{0};  // how often a new holder was seen

    std::map<std::uint32_t, std::string> of_slots;  // the same for each slot of a semaphore

    void add(lock_view const& lock)
    {
        if (lock.state == lock_state::unknown) return;
        std::string const holder = lock.state == lock_state::held ? lock.nodes[*lock.holder].id() : "";
        if (!holder.empty() && holder != last) ++turns;
        last = holder;
    }

    void add(semaphore_view const& semaphore)
    {
        std::map<std::uint32_t, std::string> now;
        for (slot_view const& s : semaphore.slots) {
            auto const before = of_slots.find(s.number);
            if (s.lock.state == lock_state::unknown && before != of_slots.end()) now.insert(*before);
            if (s.lock.state != lock_state::held) continue;
            auto const holder = s.lock.nodes[*s.lock.holder].id();
            if (before == of_slots.end() || before->second != holder) ++turns;
            now[s.number] = holder;
        }
        of_slots = std::move(now);
    }
};

// One name on the servers: a lock, or a semaphore, or both, which do not exclude each other.
struct watched {
    lock_view lock;
    std::optional<semaphore_view> semaphore;

    bool shows_lock() const { return !semaphore || is_anywhere(lock); }

    bool is_known() const
    {
        if (semaphore && (!semaphore->is_known() || semaphore->held_unclearly() > 0)) return false;
        return !shows_lock() || lock.state != lock_state::unknown;
    }
};

struct histories {
    history lock, semaphore;

    void add(watched const& what)
    {
        if (what.semaphore) semaphore.add(*what.semaphore);
        lock.add(what.lock);
    }
};

tone tone_of(lock_state state)
{
    switch (state) {
    case lock_state::free: return tone::good;
    case lock_state::held: return tone::plain;
    case lock_state::partly: return tone::warning;
    case lock_state::unknown: return tone::alarm;
    }
    return tone::plain;
}

std::vector<table::cell> row(lock_view const& lock, history const& seen)
{
    std::string const on = std::to_string(lock.held_on) + " of " + std::to_string(lock.nodes.size());
    std::string const turns = std::to_string(seen.turns);
    if (lock.state != lock_state::held)
        return {{name_in_words(lock.name)}, {to_string(lock.state), tone_of(lock.state)}, {"-"}, {on}, {"-"}, {"-"}, {turns}};
    auto const& key = lock.nodes[*lock.holder];
    std::string const ttl = lock.ttl_ms < 0 ? "never ends" : in_words(milliseconds{lock.ttl_ms});
    auto const since = held_for(key);
    bool const no_spare_node = lock.faults_tolerated == 0 &&
                               lock.nodes.size() > 2;  // if one more node loses the key, another client could get a majority
    return {{name_in_words(lock.name)},
            {"held", tone::strong},
            {holder_in_words(key) + wish_in_words(lock)},
            {on, no_spare_node ? tone::warning : tone::plain},
            {ttl},
            {since.empty() ? "-" : since},
            {turns}};
}

std::vector<table::cell> row(semaphore_view const& of, history const& seen)
{
    auto const holders = holders_in_words(of);
    auto const ttl = last_ttl_ms(of);
    return {{name_in_words(of.name)},
            {of.is_known() ? held_in_words(of) : "unknown", of.is_known() ? tone::strong : tone::alarm},
            {holders.empty() ? "-" : holders},
            {std::to_string(least_held_on(of)) + " of " + std::to_string(of.nodes.size())},
            {ttl < 0 ? "-" : in_words(milliseconds{ttl})},
            {"-"},
            {std::to_string(seen.turns)}};
}

void draw(terminal const& out, watch_options const& options, server_group& nodes, std::vector<watched> const& locks,
          std::vector<histories> const& seen)
{
    table rows{{"lock", "state", "holder", "nodes", "ttl", "held", "turns"}};
    for (std::size_t i = 0; i < locks.size(); ++i) {
        if (locks[i].semaphore) rows.add(row(*locks[i].semaphore, seen[i].semaphore));
        if (locks[i].shows_lock()) rows.add(row(locks[i].lock, seen[i].lock));
    }
    std::string text{terminal::redraw};
    text += out.fold(now_text() + ", every " + in_words(options.interval) + ", Ctrl-C ends", 0) + "\n\n" + rows.text(out, "");
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        auto const& problem = locks.front().lock.nodes[i].problem;
        if (!problem.empty()) text += '\n' + out.fold(out.paint(tone::alarm, nodes.name(i) + ": " + printable(problem)), 2);
    }
    out.write(text + '\n', [&] { return nodes.look_for_signal(); });
}

std::string line(lock_view const& lock, history const& seen)
{
    std::string text = now_text() + ' ' + name_in_words(lock.name) + ' ' + to_string(lock.state);
    if (lock.state == lock_state::held) text += " by " + holder_in_words(lock.nodes[*lock.holder]) + wish_in_words(lock);
    text += ", on " + std::to_string(lock.held_on) + " of " + count_of(lock.nodes.size(), "node");
    if (lock.state == lock_state::held && lock.ttl_ms >= 0) text += ", ttl " + in_words(milliseconds{lock.ttl_ms});
    return text + ", turn " + std::to_string(seen.turns) + '\n';
}

std::string line(semaphore_view const& of, history const& seen)
{
    std::string text = now_text() + ' ' + name_in_words(of.name) + ' ';
    text += of.is_known() ? held_in_words(of) + " held" : "unknown";
    if (auto const holders = holders_in_words(of); !holders.empty()) text += ": " + holders;
    return text + ", turn " + std::to_string(seen.turns) + '\n';
}

std::string lines(watched const& what, histories const& seen)
{
    std::string text;
    if (what.semaphore) text += line(*what.semaphore, seen.semaphore);
    if (what.shows_lock()) text += line(what.lock, seen.lock);
    return text;
}

std::string json_line(server_group const& nodes, watched const& what, histories const& seen)
{
    auto const since_1970 = std::chrono::system_clock::now().time_since_epoch();
    ordered_json j{{"time", std::chrono::duration<double>{since_1970}.count()},
                   {"turns", what.semaphore ? seen.semaphore.turns : seen.lock.turns}};
    j.update(to_json(nodes.names(), what.lock));
    j["semaphore"] = what.semaphore ? to_json(nodes.names(), *what.semaphore) : ordered_json{};
    return dump(j, -1);
}

std::vector<watched> look_at_all(server_group& nodes, std::vector<std::string> const& names)
{
    auto locks = look(nodes, names);
    auto semaphores = look_for_semaphores(nodes, names);
    std::vector<watched> all;
    for (std::size_t i = 0; i < names.size(); ++i) all.push_back({std::move(locks[i]), std::move(semaphores[i])});
    return all;
}

}  // namespace

int execute(watch_options const& options)
{
    for (std::string const& name : options.names) check_name(name);
    if (options.interval < milliseconds{10}) throw failure{exit_code::usage, "--interval is shorter than 10 ms"};
    server_group nodes{settings_of(options.from, options.names).client, options.from.timeout};
    nodes.stop_on_signals();

    terminal const out;
    std::vector<histories> seen(options.names.size());
    bool known = true;
    for (std::uint64_t round = 0; options.count == 0 || round < options.count; ++round) {
        if (round > 0 && !nodes.pause(options.interval)) break;
        auto const locks = look_at_all(nodes, options.names);
        if (nodes.interrupted()) break;
        known = true;
        for (std::size_t i = 0; i < locks.size(); ++i) {
            seen[i].add(locks[i]);
            known = known && locks[i].is_known();
        }
        if (out.live() && !options.json) {
            draw(out, options, nodes, locks, seen);
            continue;
        }
        for (std::size_t i = 0; i < locks.size(); ++i) {
            out.write(options.json ? json_line(nodes, locks[i], seen[i]) : lines(locks[i], seen[i]),
                      [&] { return nodes.look_for_signal(); });
        }
    }
    return to_int(known || nodes.interrupted() ? exit_code::success : exit_code::no_majority);
}

}  // namespace redlock::cli
