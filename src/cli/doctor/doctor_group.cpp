#include "cli/doctor/doctor_group.hpp"

#include "cli/output/text.hpp"
#include "node/connection/node_address.hpp"
#include "protocol/server_facts.hpp"

#include <algorithm>
#include <charconv>
#include <string>

namespace redlock::cli {

namespace {

using detail::sentinel_report;
using outcome = sentinel_report::outcome;

// "ip=10.0.0.2,port=6379,state=online,…" in section Replication of INFO.
std::string replica_in(std::string_view line)
{
    auto const value = [line](std::string_view name) {
        auto const at = line.find(name);
        if (at == std::string_view::npos) return std::string_view{};
        auto const rest = line.substr(at + name.size());
        return rest.substr(0, rest.find(','));
    };
    std::uint16_t port{0};
    auto const digits = value("port=");
    std::from_chars(digits.data(), digits.data() + digits.size(), port);
    return host_and_port(value("ip="), port);
}

std::vector<std::string> attached_replicas(std::string_view info)
{
    std::vector<std::string> all;
    for (std::size_t i = 0; i < max_replicas; ++i) {
        auto const line = detail::field_of_info(info, "slave" + std::to_string(i));
        if (line.empty()) break;
        all.push_back(replica_in(line));
    }
    return all;
}

bool has(std::vector<std::string> const& all, std::string const& one) { return std::find(all.begin(), all.end(), one) != all.end(); }

std::string list(std::vector<std::string> const& all)
{
    std::string text;
    for (auto const& one : all) text += (text.empty() ? "" : ", ") + one;
    return text;
}

// What it lists and most Sentinels do not know.
std::vector<std::string> outvoted_servers(sentinel_report const& r, detail::primary_candidate const& newest)
{
    std::vector<std::string> all;
    for (detail::group_member const& m : r.view.servers)
        if (std::find(newest.servers.begin(), newest.servers.end(), m) == newest.servers.end()) all.push_back(to_string(m));
    return all;
}

// Empty: nothing is wrong.
group_probe::trouble trouble_of(sentinel_report const& r, detail::primary_candidate const* newest)
{
    using enum group_probe::trouble::remedy;
    if (r.is == outcome::no_sentinel) return {r.sentinel, "is no Sentinel but another server", take_out};
    if (r.is == outcome::no_such_master) return {r.sentinel, "does not know this master"};
    if (r.is == outcome::failed) return {r.sentinel, "does not answer: " + r.problem};
    if (!newest) return {};
    auto const outvoted = outvoted_servers(r, *newest);
    if (outvoted.size() == r.view.servers.size())
        return {r.sentinel, "watches another group under this name, whose primary is " + to_string(r.view.primary), take_out};
    if (!outvoted.empty())
        return {r.sentinel, "lists servers that most Sentinels do not know, and that do not count: " + list(outvoted), reset};
    if (r.view.epoch == newest->epoch && r.view.primary == newest->primary) return {};
    return {r.sentinel, "names " + to_string(r.view.primary) + " as the primary (epoch " + std::to_string(r.view.epoch) +
                            "; the newest epoch is " + std::to_string(newest->epoch) + ')'};
}

char const* remedy_of(group_probe::trouble const& t)
{
    using enum group_probe::trouble::remedy;
    switch (t.by) {
    case mend: break;
    case take_out: return "take it out of the configuration, or write the address of a Sentinel of this group";
    case reset: return "if they are gone for ever, SENTINEL RESET there; if they are new, wait until the others have heard of them";
    }
    return "start it, or mend its configuration; without a majority of the Sentinels there is no failover";
}

struct stop_of_acquisitions {
    std::string words;  // behind "nobody could acquire one"
    bool for_want_of_a_server{false};  // which is missing now
};

// One server fewer: the promoted one has the other replicas.
stop_of_acquisitions stop_after_failover(group_probe const& g, config const& settings, lock_options const& lock)
{
    std::size_t const attached = g.attached.value_or(g.size - 1);
    std::size_t const left = attached > 0 ? attached - 1 : 0;
    if (left < g.acknowledgements)
        return {" until the old primary is back as a replica, since the promoted server would have " + count_of(left, "replica"),
                g.size - 2 >= g.acknowledgements};
    if (lock.fencing)
        return {" for " + in_words(g.down_after + settings.max_ttl) + " and a few seconds (down-after-milliseconds + max_ttl)"};
    return {" until the Sentinels have promoted a replica (" + in_words(g.down_after) + " and a few seconds)"};
}

}  // namespace

group_probe examine_group(node_address const& address, detail::primary_finder::result const& found, std::string_view info)
{
    group_probe g;
    auto const* const newest = found.choice.candidates.empty() ? nullptr : &found.choice.candidates.front();
    for (sentinel_report const& r : found.reports) {
        if (auto trouble = trouble_of(r, newest); !trouble.sentinel.empty()) g.troubles.push_back(std::move(trouble));
        if (r.is == outcome::answered) g.down_after = std::max(g.down_after, r.view.down_after);
    }
    if (!newest) return g;
    g.primary = to_string(newest->primary);
    g.epoch = newest->epoch;
    g.size = newest->size();
    auto const acks = acknowledgements_of(*newest, address.replicas, address.sentinel->master);
    g.acknowledgements = acks.count;
    g.problem = acks.problem;
    if (detail::field_of_info(info, "connected_slaves").empty()) return g;
    auto const attached = attached_replicas(info);
    g.attached = attached.size();
    std::vector<std::string> known;
    for (auto const& server : newest->servers) known.push_back(to_string(server));
    for (auto const& server : known)
        if (server != g.primary && !has(attached, server)) g.missing.push_back(server);
    for (auto const& server : attached)
        if (!has(known, server)) g.unknown.push_back(server);
    return g;
}

std::vector<finding> diagnose_group(doctor_probe const& node, config const& settings, lock_options const& lock)
{
    std::vector<finding> found;
    auto const add = [&](severity is, std::string what, std::string remedy) {
        found.push_back({is, node.node, std::move(what), std::move(remedy)});
    };
    group_probe const& g = *node.group;
    for (auto const& t : g.troubles)
        add(t.by == group_probe::trouble::remedy::take_out ? severity::danger : severity::warning,
            "the Sentinel " + t.sentinel + ' ' + t.words, remedy_of(t));
    if (g.primary.empty()) return found;
    if (!g.problem.empty()) {
        add(severity::danger, g.problem, "change the configuration, or the group");
        return found;
    }
    auto const k = g.acknowledgements;
    // Without fencing nothing waits after a failover, so that the promoted server must have all votes.
    auto const needed = lock.fencing ? g.size / 2 : g.size - 1;
    if (k < needed)
        add(severity::danger,
            "votes wait for k = " + std::to_string(k) + " of " + count_of(g.size - 1, "replica") + ", and " +
                (lock.fencing ? "a majority of S = " + std::to_string(g.size) + " servers needs " : "without fencing it takes ") +
                std::to_string(needed) + ": a failover can lose a lock that is held, and a second client could get it " +
                (lock.fencing ? "when the quarantine is over" : "as soon as a replica is promoted"),
            lock.fencing ? "leave replicas out, or write replicas=" + std::to_string(needed)
                         : "use fencing (the default), or write replicas=" + std::to_string(needed));
    if (g.attached && *g.attached < k)
        add(severity::danger,
            "its votes are to wait for " + count_of(k, "replica") + ", and the primary has " + std::to_string(*g.attached) +
                ": they never count",
            "start the replicas (REPLICAOF)");
    if (!g.missing.empty())
        add(severity::warning, "the Sentinels know replicas that are not attached to the primary: " + list(g.missing),
            "start them; if they are gone for ever, SENTINEL RESET on one Sentinel after the other");
    if (!g.unknown.empty())
        add(severity::warning,
            "replicas are attached to the primary that no Sentinel knows, and whose acknowledgements count all the same: " +
                list(g.unknown),
            "detach what nobody would promote; Sentinels find new replicas within ten seconds");
    auto const stop = stop_after_failover(g, settings, lock);
    auto const verdict = k < needed ? " could lose a lock" : " would lose no lock";
    add(stop.for_want_of_a_server ? severity::warning : severity::note,
        "a group of S = " + std::to_string(g.size) + " servers with the primary " + g.primary + " (epoch " + std::to_string(g.epoch) +
            "); votes wait for k = " + std::to_string(k) + ". A failover now" + verdict + ", and nobody could acquire one" + stop.words,
        stop.for_want_of_a_server ? "start the replica that is missing" : "nothing has to be done");
    return found;
}

}  // namespace redlock::cli
