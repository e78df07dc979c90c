#include "cli/lock_list.hpp"

#include "cli/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
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

// Why a node was not searched, or did not answer afterwards.
std::string problem_of(search_result const& found, std::size_t node)
{
    if (!found.nodes[node].problem.empty()) return found.nodes[node].problem;
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
        return "the search has found " + std::to_string(limits.names) +
               " locks, and keys were left; give a narrower PATTERN, or a higher --limit";
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

}  // namespace

bool is_known(search_result const& found) { return found.enough() && count_in(found, lock_state::unknown) == 0; }

std::string lock_table(terminal const& out, search_result const& found)
{
    if (found.locks.empty()) return "";
    auto const now = system_clock::now();
    table rows{{"lock", "mode", "holder", "nodes", "since", "held", "ends", "ttl"}};
    for (lock_view const& lock : found.locks) {
        auto const start = since(lock);
        auto const mode = mode_in_words(lock);
        rows.add({{name_in_words(lock.name)},
                  {mode.empty() ? "-" : mode},
                  {holder_cell(lock), tone_for(lock.state)},
                  {on_nodes(lock), tone_for(lock.state)},
                  {start ? local(*start) : "-"},
                  {age_cell(lock, now)},
                  {end_cell(lock, now)},
                  {ttl_cell(lock)}});
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
    if (held > others || is_known(found))
        all.push_back(held == others ? "no lock is held" : count_of(held - others, "lock is held", "locks are held"));
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
    if (!found.enough()) {
        auto const seen = std::count_if(found.nodes.begin(), found.nodes.end(), [](node_search const& n) { return n.complete; });
        all.push_back(out.paint(tone::alarm, "the list may lack locks: only " + std::to_string(seen) + " of " +
                                                 count_of(nodes.size(), "node") + (seen == 1 || nodes.size() == 1 ? " was" : " were") +
                                                 " searched to the end"));
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
    if (!found.locks.empty()) return text;
    return local(now) + (found.enough() ? " no lock is held\n" : " unknown: too few nodes could be searched\n");
}

ordered_json to_json(server_group const& nodes, search_result const& found)
{
    auto const now = system_clock::now();
    ordered_json j{{"time", in_seconds_since_1970(now)},
                   {"known", is_known(found)},
                   {"search", to_string(found.because)},
                   {"foreign_keys", found.foreign()}};
    j["nodes"] = ordered_json::array();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        auto const problem = problem_of(found, i);
        j["nodes"].push_back({{"node", nodes.name(i)},
                              {"problem", problem.empty() ? ordered_json{} : ordered_json(problem)},
                              {"searched_to_the_end", found.nodes[i].complete},
                              {"keys", found.nodes[i].keys}});
    }
    j["locks"] = ordered_json::array();
    for (lock_view const& lock : found.locks) {
        auto one = to_json(nodes, lock);
        bool const ends = lock.state == lock_state::held && lock.ttl_ms >= 0;
        one["until"] = ends ? ordered_json(in_seconds_since_1970(now + milliseconds{lock.ttl_ms})) : ordered_json{};
        j["locks"].push_back(std::move(one));
    }
    return j;
}

}  // namespace redlock::cli
