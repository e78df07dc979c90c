#include "cli/locks/lock_list.hpp"

#include "cli/locks/semaphore_text.hpp"
#include "cli/output/table.hpp"
#include "cli/output/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace redlock::cli {

namespace {

using nlohmann::ordered_json;
using std::chrono::milliseconds;
using std::chrono::system_clock;

double in_seconds_since_1970(system_clock::time_point t) { return std::chrono::duration<double>{t.time_since_epoch()}.count(); }

std::string local(system_clock::time_point t) { return local_time(static_cast<std::uint64_t>(system_clock::to_time_t(t))); }

std::string holder_cell(lock_view const& lock)
{
    std::string who = lock.holder ? short_holder(lock.nodes[*lock.holder]) + wish_in_words(lock) : "-";
    switch (lock.state) {
    case lock_state::held: return who;
    case lock_state::partly: return "no majority: " + who;
    case lock_state::unknown: return "unknown: " + who;
    case lock_state::free: break;
    }
    return "-";
}

tone tone_for(lock_state state)
{
    return state == lock_state::held ? tone::plain : state == lock_state::unknown ? tone::alarm : tone::warning;
}

// By the holder's clock.
std::optional<system_clock::time_point> since(lock_view const& lock)
{
    constexpr std::uint64_t last = 9'000'000'000;  // in 2255; more than that does not fit
    auto const who = lock.info();
    if (!who || who->since > last) return std::nullopt;
    return system_clock::time_point{std::chrono::seconds{who->since}};
}

std::string age_cell(lock_view const& lock, system_clock::time_point now)
{
    auto const start = since(lock);
    if (!start) return "-";
    auto const age = std::chrono::floor<std::chrono::seconds>(now) - *start;
    return age.count() < 0 ? "its clock is ahead" : age.count() == 0 ? "just now" : in_words(age);
}

// When a majority will have lost it, if nobody extends it: the time of the day, and the date as well where that is another day's.
std::string end_cell(lock_view const& lock, system_clock::time_point now)
{
    if (lock.state != lock_state::held) return "-";
    if (lock.ttl_ms < 0) return "never";
    auto const end = local(now + milliseconds{lock.ttl_ms});
    constexpr std::size_t date_size = 11;
    return end.starts_with(local(now).substr(0, date_size)) ? end.substr(date_size) : end;
}

std::string ttl_cell(lock_view const& lock)
{
    return lock.state == lock_state::held && lock.ttl_ms >= 0 ? in_words(milliseconds{lock.ttl_ms}) : "-";
}

std::string on_nodes(lock_view const& lock) { return std::to_string(lock.held_on) + " of " + std::to_string(lock.nodes.size()); }

std::size_t count_in(search_result const& found, lock_state state)
{
    auto const is = [&](lock_view const& l) { return l.state == state; };
    return static_cast<std::size_t>(std::count_if(found.locks.begin(), found.locks.end(), is));
}

constexpr std::size_t published_in_list = 40;  // columns

std::vector<table::cell> row_of(lock_view const& lock, system_clock::time_point now)
{
    auto const start = since(lock);
    auto const mode = mode_in_words(lock);
    return {{name_in_words(lock.name)},
            {mode.empty() ? "-" : mode},
            {holder_cell(lock), tone_for(lock.state)},
            {on_nodes(lock), tone_for(lock.state)},
            {start ? local(*start) : "-"},
            {age_cell(lock, now)},
            {end_cell(lock, now)},
            {ttl_cell(lock)}};
}

// The only holder, or how many there are.
std::string holders_cell(semaphore_view const& of)
{
    if (of.held() > 1) return count_of(of.held(), "holder");
    for (slot_view const& s : of.slots)
        if (s.lock.state == lock_state::held) return holder_cell(s.lock);
    return of.slots.empty() ? "-" : holder_cell(of.slots.front().lock);
}

lock_state state_of(semaphore_view const& of)
{
    if (of.held() > 0) return lock_state::held;
    return of.held_unclearly() > 0 ? lock_state::unknown : lock_state::partly;
}

// Of several holders, the ends are those of the last one.
std::vector<table::cell> row_of(semaphore_view const& of, system_clock::time_point now)
{
    auto const ttl = last_ttl_ms(of);
    lock_view ends;
    ends.state = of.held() > 0 ? lock_state::held : lock_state::free;
    ends.ttl_ms = ttl;
    return {{name_in_words(of.name)},
            {of.permits ? std::to_string(of.held()) + " of " + std::to_string(*of.permits) : "permits"},
            {holders_cell(of), of.held() > 0 ? tone::plain : tone::warning},
            {std::to_string(least_held_on(of)) + " of " + std::to_string(of.nodes.size())},
            {"-"},
            {"-"},
            {end_cell(ends, now)},
            {ttl_cell(ends)}};
}

// Why a node was not searched, or did not answer afterwards.
std::string problem_of(search_result const& found, std::size_t node)
{
    for (std::string const& why : {found.nodes[node].problem, found.nodes[node].missing})
        if (!why.empty()) return why;
    for (lock_view const& lock : found.locks)
        if (!lock.nodes[node].problem.empty()) return lock.nodes[node].problem;
    return {};
}

std::string why_incomplete(search_result const& found, search_limits const& limits)
{
    using end = search_result::end;
    if (found.because == end::out_of_time)
        return "the search has taken " + in_words(limits.time) + ", and keys were left; give a narrower PATTERN, or a longer --time";
    if (found.because == end::too_many_names)
        return "the search has found " + count_of(limits.names, "lock") +
               ", and keys were left; give a narrower PATTERN, or a higher --limit";
    return {};
}

char const* to_string(search_result::end because)
{
    switch (because) {
    case search_result::end::complete: return "complete";
    case search_result::end::out_of_time: return "out_of_time";
    case search_result::end::too_many_names: return "too_many";
    case search_result::end::interrupted: return "interrupted";
    }
    return "";
}

ordered_json until(std::int64_t ttl_ms, system_clock::time_point now) { return in_seconds_since_1970(now + milliseconds{ttl_ms}); }

ordered_json with_end(std::vector<std::string> const& nodes, lock_view const& lock, system_clock::time_point now)
{
    auto one = to_json(nodes, lock);
    bool const ends = lock.state == lock_state::held && lock.ttl_ms >= 0;
    one["until"] = ends ? until(lock.ttl_ms, now) : ordered_json{};
    return one;
}

ordered_json semaphore_with_end(std::vector<std::string> const& nodes, list_row const& row, system_clock::time_point now)
{
    semaphore_view const& s = *row.semaphore;
    auto const ttl = last_ttl_ms(s);
    auto semaphore = to_json(nodes, s);
    semaphore.erase("free_estimate");  // not all slots were read
    if (row.slots < s.slots.size()) {
        auto& all = semaphore["slots"];
        auto const from = all.begin() + static_cast<std::ptrdiff_t>(row.first_slot);
        semaphore["slots_from"] = row.first_slot;
        all = ordered_json(ordered_json::array_t(from, from + static_cast<std::ptrdiff_t>(row.slots)));
    }
    return {{"name", s.name},
            {"state", cli::to_string(state_of(s))},
            {"mode", "permits"},
            {"held_on", least_held_on(s)},
            {"ttl_ms", ttl < 0 ? ordered_json{} : ordered_json(ttl)},
            {"holder", nullptr},
            {"semaphore", std::move(semaphore)},
            {"until", ttl < 0 ? ordered_json{} : until(ttl, now)}};
}

}  // namespace

bool is_known(search_result const& found)
{
    auto const is_unclear = [](semaphore_view const& s) { return s.held_unclearly() > 0; };
    return found.enough() && found.because != search_result::end::too_many_names && count_in(found, lock_state::unknown) == 0 &&
           std::none_of(found.semaphores.begin(), found.semaphores.end(), is_unclear);
}

std::string lock_table(terminal const& out, search_result const& found)
{
    if (found.locks.empty() && found.semaphores.empty()) return "";
    auto const now = system_clock::now();
    std::map<std::string, std::vector<table::cell>> by_name;
    bool const with_states = std::any_of(found.locks.begin(), found.locks.end(), [](lock_view const& l) { return l.newest_state(); });
    for (lock_view const& lock : found.locks) by_name.emplace(lock.name, row_of(lock, now));
    for (semaphore_view const& s : found.semaphores) by_name.insert_or_assign(s.name + slots_follow, row_of(s, now));
    if (with_states)
        for (lock_view const& lock : found.locks)
            if (auto const* const state = lock.newest_state())
                by_name[lock.name].push_back({published_in_words(*state, published_in_list), tone::plain, true});
    std::vector<std::string> heading{"lock", "mode", "holder", "nodes", "since", "held", "ends", "ttl"};
    if (with_states) heading.emplace_back("published");
    table rows{heading};
    for (auto& [name, row] : by_name) {
        if (row.size() < heading.size()) row.push_back({"-"});
        rows.add(std::move(row));
    }
    return rows.text(out, "");
}

std::string remarks(terminal const& out, server_group const& nodes, search_result const& found, search_limits const& limits)
{
    std::vector<std::string> all;
    auto const held = count_in(found, lock_state::held), partly = count_in(found, lock_state::partly),
               unknown = count_in(found, lock_state::unknown);
    auto const is_held_by_others = [](lock_view const& l) { return l.state == lock_state::held && !l.info() && l.readers == 0; };
    auto const others = static_cast<std::size_t>(std::count_if(found.locks.begin(), found.locks.end(), is_held_by_others));
    auto const used = std::count_if(found.semaphores.begin(), found.semaphores.end(), [](semaphore_view const& s) { return s.held() > 0; });
    if (held > others) all.push_back(count_of(held - others, "lock is held", "locks are held"));
    else if (used == 0 && is_known(found)) all.push_back("no lock is held");
    if (used > 0) all.push_back(count_of(static_cast<std::size_t>(used), "semaphore has", "semaphores have") + " holders");
    if (others > 0)
        all.push_back(count_of(others, "key of others is", "keys of others are") +
                      " on a majority of the nodes: locks of other libraries, or no locks at all");
    if (partly > 0)
        all.push_back(count_of(partly, "lock is", "locks are") +
                      " on fewer nodes than a majority, and held by nobody: an attempt under way, or what is left of one");
    if (unknown > 0)
        all.push_back(out.paint(tone::alarm, count_of(unknown, "lock", "locks") + ": too few nodes answered to know whether it is held"));
    if (auto const n = found.foreign(); n > 0 && !limits.foreign)
        all.push_back(count_of(n, "other key matches and is", "other keys match and are") + " no lock of this library; --foreign lists " +
                      (n == 1 ? "it" : "them"));
    if (auto const why = why_incomplete(found, limits); !why.empty()) all.push_back(out.paint(tone::warning, why));
    if (!found.enough() && found.because != search_result::end::too_many_names) {
        auto const is_complete = [](node_search const& n) { return n.complete; };
        auto const seen = static_cast<std::size_t>(std::count_if(found.nodes.begin(), found.nodes.end(), is_complete));
        std::string const did = (seen <= 1 ? "was" : "were") + std::string{" searched to the end"};
        all.push_back(
            out.paint(tone::alarm, "the list may lack locks: " + so_few_nodes(seen, nodes.size(), did, "was not searched to the end")));
    }
    for (std::size_t i = 0; i < nodes.size(); ++i)
        if (auto const problem = problem_of(found, i); !problem.empty())
            all.push_back(out.paint(tone::alarm, nodes.name(i) + ": " + printable(problem)));
    std::string text;
    for (std::string const& line : all) text += out.fold(line, 2) + '\n';
    return text;
}

std::string lock_lines(search_result const& found)
{
    auto const now = system_clock::now();
    std::string text;
    for (lock_view const& lock : found.locks) {
        text += local(now) + ' ' + name_in_words(lock.name) + ' ' + cli::to_string(lock.state);
        if (lock.state == lock_state::held) text += " by " + holder_in_words(lock.nodes[*lock.holder]) + wish_in_words(lock);
        text += ", on " + std::to_string(lock.held_on) + " of " + count_of(lock.nodes.size(), "node");
        if (lock.state == lock_state::held && lock.ttl_ms >= 0) text += ", ttl " + in_words(milliseconds{lock.ttl_ms});
        text += '\n';
    }
    for (semaphore_view const& s : found.semaphores)
        text += local(now) + ' ' + name_in_words(s.name) + ' ' + held_in_words(s) + " held: " + holders_in_words(s) + '\n';
    if (!text.empty()) return text;
    return local(now) + (found.enough() ? " no lock is held\n" : " unknown: too few nodes could be searched\n");
}

ordered_json to_json(std::vector<std::string> const& nodes, search_result const& found, system_clock::time_point now, list_part const& part)
{
    ordered_json j{{"time", in_seconds_since_1970(now)},
                   {"known", is_known(found)},
                   {"search", to_string(found.because)},
                   {"foreign_keys", found.foreign()}};
    j["nodes"] = ordered_json::array();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        auto const problem = problem_of(found, i);
        j["nodes"].push_back({{"node", nodes[i]},
                              {"problem", problem.empty() ? ordered_json{} : ordered_json(problem)},
                              {"searched_to_the_end", found.nodes[i].complete},
                              {"keys", found.nodes[i].keys}});
    }
    auto const rows = choose(found, part);
    if (part.is_limited()) j.update({{"held", rows.held}, {"rows", rows.all}, {"from", rows.first}});
    j["locks"] = ordered_json::array();
    for (list_row const& row : rows.chosen) {
        auto one = row.lock ? with_end(nodes, *row.lock, now) : semaphore_with_end(nodes, row, now);
        if (part.is_limited()) one["row"] = row.number;
        j["locks"].push_back(std::move(one));
    }
    return j;
}

}  // namespace redlock::cli
