#include "cli/locks/lock_search.hpp"

#include "node/cluster/cluster_map.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace redlock::cli {

namespace {

using steady = std::chrono::steady_clock;

constexpr std::size_t names_per_message = 200;

bool is_wrong_type(reply const& r) { return r.is_error() && r.text.starts_with("WRONGTYPE"); }

// Reads the keys of these locks on the nodes that could be searched.
std::vector<lock_view> look_at(server_group& nodes, std::vector<std::string> const& names, std::vector<node_search> const& searched)
{
    std::vector<words> questions;
    for (std::string const& name : names)
        for (words& w : questions_about(nodes.key_of(name), value_part::beginning)) questions.push_back(std::move(w));
    auto all = nodes.ask_each([&](std::size_t node) { return searched[node].problem.empty() ? questions : std::vector<words>{}; });
    for (std::size_t node = 0; node < all.size(); ++node)
        if (!searched[node].problem.empty()) all[node].problem = searched[node].problem;

    std::vector<lock_view> views;
    for (std::size_t n = 0; n < names.size(); ++n) views.push_back(view_of(names[n], all, n * questions_per_key));
    return views;
}

// Of this library on one node at least: others may have a foreign value under that name.
bool is_of_ours(lock_view const& lock)
{
    return std::any_of(lock.nodes.begin(), lock.nodes.end(), [](key_view const& k) { return k.present && (k.holder || k.readers > 0); });
}

// A node that is a cluster was searched when all of its primaries were.
std::vector<node_search> by_node(server_group const& nodes, std::vector<node_scan> const& scans)
{
    if (!nodes.has_all_shards()) {
        std::vector<node_search> all;
        for (node_scan const& s : scans) all.push_back(s.found());
        return all;
    }
    std::vector<node_search> all(nodes.size());
    for (std::size_t node = 0; node < all.size(); ++node) {
        all[node].missing = nodes.problem_of(node);
        all[node].complete = all[node].missing.empty();
    }
    for (std::size_t server = 0; server < scans.size(); ++server) {
        node_search& of = all[nodes.node_of(server)];
        auto const& found = scans[server].found();
        if (of.missing.empty()) of.missing = found.problem;
        of.complete = of.complete && found.complete;
        of.keys += found.keys;
        of.foreign += found.foreign;
    }
    return all;
}

}  // namespace

bool search_result::enough() const
{
    auto const seen = std::count_if(nodes.begin(), nodes.end(), [](node_search const& n) { return n.complete; });
    return static_cast<std::size_t>(seen) + quorum::majority(nodes.size()) > nodes.size();
}

std::size_t search_result::foreign() const
{
    std::size_t most = 0;
    for (node_search const& n : nodes) most = std::max(most, n.foreign);
    return most;
}

std::vector<words> node_scan::next_questions() const
{
    std::vector<words> all;
    if (!found_.problem.empty()) return all;
    for (auto const& [key, name] : unread_) all.push_back({"GETRANGE", key, "0", std::to_string(value_beginning - 1)});
    for (auto const& [key, name] : no_strings_) all.push_back({"ZSCORE", key, ""});
    if (!at_end_) all.push_back({"SCAN", cursor_, "MATCH", pattern_.text(), "COUNT", std::to_string(step)});
    return all;
}

void node_scan::take(answers const& from, std::set<std::string>& names)
{
    auto const read = std::exchange(unread_, {}), sets = std::exchange(no_strings_, {});
    auto const both = read.size() + sets.size();
    if (!from.ok() || from.replies.size() < both + (at_end_ ? 0 : 1)) {
        found_.problem = from.ok() ? "it has not answered all of it" : from.problem;
        return;
    }
    for (std::size_t i = 0; i < read.size() && found_.problem.empty(); ++i) {
        if (is_wrong_type(from.replies[i])) no_strings_.push_back(read[i]);
        else take_value(read[i].second, from.replies[i], names);
    }
    for (std::size_t i = 0; i < sets.size(); ++i) take_epoch(sets[i].second, from.replies[read.size() + i], names);
    if (!found_.problem.empty()) return;
    if (!at_end_) take_keys(from.replies[both]);
    found_.complete = found_.problem.empty() && at_end_ && unread_.empty() && no_strings_.empty();
}

void node_scan::take_value(std::string const& name, reply const& value, std::set<std::string>& names)
{
    if (value.is_error()) {
        found_.problem = value.text;  // permissions, above all
        return;
    }
    if (value.is_text() && value.text.empty()) return;  // it has gone meanwhile
    ++found_.keys;
    bool const ours = value.is_text() && detail::holder_of(value.text).has_value();
    if (!ours) ++found_.foreign;
    if (ours || with_foreign_) names.insert(name);
}

// Only a set of readers has the empty member. An error: something else, or the user may not look.
void node_scan::take_epoch(std::string const& name, reply const& epoch, std::set<std::string>& names)
{
    ++found_.keys;
    bool const ours = epoch.is_text() && !epoch.text.empty();
    if (!ours) ++found_.foreign;
    if (ours || with_foreign_) names.insert(name);
}

void node_scan::take_keys(reply const& scan)
{
    if (scan.is_error() || scan.items.size() != 2) {
        found_.problem = scan.is_error() ? scan.text : "its answer to SCAN is none";
        return;
    }
    cursor_ = scan.items[0].text;
    at_end_ = cursor_ == "0";
    for (reply const& key : scan.items[1].items)
        if (auto name = pattern_.name_of(key.text)) unread_.emplace_back(key.text, std::move(*name));
}

search_result find_locks(server_group& nodes, lock_key_pattern const& pattern, search_limits const& limits)
{
    auto const end = steady::now() + limits.time;
    nodes.look_for_servers();
    std::vector<node_scan> scans(nodes.servers(), node_scan{pattern, limits.foreign});
    for (std::size_t server = 0; server < scans.size(); ++server)
        if (auto const node = nodes.node_of(server); node < limits.problems.size()) scans[server].give_up(limits.problems[node]);
    std::set<std::string> names;
    search_result result;
    auto const is_searching = [](node_scan const& s) { return !s.next_questions().empty(); };
    while (std::any_of(scans.begin(), scans.end(), is_searching)) {
        if (nodes.interrupted()) result.because = search_result::end::interrupted;
        else if (names.size() >= limits.names) result.because = search_result::end::too_many_names;
        else if (steady::now() >= end) result.because = search_result::end::out_of_time;
        if (result.because != search_result::end::complete) break;
        auto const all = nodes.ask_servers([&](std::size_t server) { return scans[server].next_questions(); });
        for (std::size_t server = 0; server < scans.size(); ++server)
            if (is_searching(scans[server])) scans[server].take(all[server], names);
    }
    result.nodes = by_node(nodes, scans);

    std::vector<std::string> sorted(names.begin(), names.end());
    if (sorted.size() > limits.names) {
        sorted.resize(limits.names);
        if (result.because == search_result::end::complete) result.because = search_result::end::too_many_names;
    }
    for (std::size_t from = 0; from < sorted.size() && !nodes.interrupted(); from += names_per_message) {
        auto const to = std::min(sorted.size(), from + names_per_message);
        std::vector<std::string> const some(sorted.begin() + static_cast<std::ptrdiff_t>(from),
                                            sorted.begin() + static_cast<std::ptrdiff_t>(to));
        for (lock_view& view : look_at(nodes, some, result.nodes))
            if (is_anywhere(view) && (limits.foreign || is_of_ours(view))) result.locks.push_back(std::move(view));
    }
    return result;
}

std::string without_shard(server_group const& nodes, std::string_view name)
{
    if (nodes.has_all_shards()) detail::take_shard_off(name);
    return std::string{name};
}

void take_shards_off(server_group const& nodes, search_result& found)
{
    if (!nodes.has_all_shards()) return;
    auto const rest_of = [&](std::string const& name) { return without_shard(nodes, name); };
    auto const by_name = [](auto const& a, auto const& b) { return a.name < b.name; };
    for (lock_view& lock : found.locks) lock.name = rest_of(lock.name);
    for (semaphore_view& semaphore : found.semaphores) {
        semaphore.name = rest_of(semaphore.name);
        for (slot_view& slot : semaphore.slots) slot.lock.name = rest_of(slot.lock.name);
    }
    std::sort(found.locks.begin(), found.locks.end(), by_name);
    std::sort(found.semaphores.begin(), found.semaphores.end(), by_name);
}

}  // namespace redlock::cli
