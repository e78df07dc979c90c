#include "node/sentinel/primary_choice.hpp"

#include <algorithm>
#include <utility>

namespace redlock::detail {

namespace {

using outcome = sentinel_report::outcome;

std::size_t count(std::vector<sentinel_report> const& reports, outcome is)
{
    return static_cast<std::size_t>(std::count_if(reports.begin(), reports.end(), [is](sentinel_report const& r) { return r.is == is; }));
}

std::string names(std::vector<sentinel_report> const& reports, outcome is)
{
    std::string text;
    for (sentinel_report const& r : reports)
        if (r.is == is) text += (text.empty() ? "" : ", ") + r.sentinel;
    return text;
}

bool has(std::vector<group_member> const& servers, group_member const& one)
{
    return std::find(servers.begin(), servers.end(), one) != servers.end();
}

bool share_a_server(std::vector<group_member> const& a, std::vector<group_member> const& b)
{
    return std::any_of(a.begin(), a.end(), [&](group_member const& m) { return has(b, m); });
}

primary_choice none(error_code why, std::string words) { return {{}, 0, why, std::move(words)}; }

// Nobody knows the group.
primary_choice nobody_knows(std::vector<sentinel_report> const& reports, std::string const& master)
{
    if (count(reports, outcome::no_sentinel) > 0)
        return none(errc::node_unsuitable, names(reports, outcome::no_sentinel) +
                                               " is no Sentinel but another server; give the addresses of Sentinels (their port is 26379 "
                                               "by default), or redis://host:port for a single server");
    if (count(reports, outcome::no_such_master) > 0)
        return none(errc::node_unsuitable,
                    "no Sentinel knows a master \"" + master + "\" (" + names(reports, outcome::no_such_master) +
                        "); write the name behind \"sentinel monitor\" in their configuration (SENTINEL MASTERS lists "
                        "them)");
    std::string why;
    for (sentinel_report const& r : reports) why += (why.empty() ? "" : "; ") + r.sentinel + ": " + r.problem;
    return none(errc::node_unreachable, "no Sentinel of \"" + master + "\" answered (" + why + ')');
}

bool has_answered(sentinel_report const& r) { return r.is == outcome::answered; }

// Listed by more than half of the Sentinels that answered, or, with `or_half`, by half of them.
std::vector<group_member> servers_of(std::vector<sentinel_report> const& reports, std::size_t answered, bool or_half)
{
    std::vector<group_member> all;
    for (sentinel_report const& r : reports) {
        if (!has_answered(r)) continue;
        for (group_member const& m : r.view.servers) {
            if (has(all, m)) continue;
            auto const knows = [&](sentinel_report const& other) { return has_answered(other) && has(other.view.servers, m); };
            auto const listed = static_cast<std::size_t>(std::count_if(reports.begin(), reports.end(), knows));
            if (2 * listed > answered || (or_half && 2 * listed == answered)) all.push_back(m);
        }
    }
    return all;
}

// Of two Sentinels that watch one group, neither outvotes the other: what one of them lists counts, since votes must not wait for too few replicas. Two that
// have no server in common watch two groups.
std::vector<group_member> servers_of_most(std::vector<sentinel_report> const& reports, std::size_t answered)
{
    auto const all = servers_of(reports, answered, false);
    return all.empty() ? all : servers_of(reports, answered, true);
}

std::string primaries_of(std::vector<sentinel_report> const& reports)
{
    std::string text;
    for (sentinel_report const& r : reports)
        if (has_answered(r)) text += (text.empty() ? "" : ", ") + r.sentinel + ": " + to_string(r.view.primary);
    return text;
}

// Two that know no common server watch two groups of one name, and neither of these has most Sentinels.
primary_choice no_common_group(std::vector<sentinel_report> const& reports, std::string const& master)
{
    for (sentinel_report const& a : reports)
        for (sentinel_report const& b : reports) {
            if (!has_answered(a) || !has_answered(b) || share_a_server(a.view.servers, b.view.servers)) continue;
            return none(errc::node_unsuitable, "the Sentinels " + a.sentinel + " and " + b.sentinel +
                                                   " watch different masters of the name \"" + master + "\" (" + to_string(a.view.primary) +
                                                   " and " + to_string(b.view.primary) +
                                                   "), with no server in common; give only the Sentinels of one group");
        }
    return none(errc::node_unsuitable, "there is no primary of \"" + master + "\" that most of the Sentinels know (" +
                                           primaries_of(reports) + "); SENTINEL REPLICAS " + master +
                                           " says which servers each of them knows");
}

std::vector<primary_candidate> candidates_of(std::vector<sentinel_report> const& reports, std::vector<group_member> const& servers)
{
    std::vector<primary_candidate> all;
    for (sentinel_report const& r : reports) {
        if (!has_answered(r) || !has(servers, r.view.primary)) continue;
        auto const same = [&](primary_candidate const& c) { return c.epoch == r.view.epoch && c.primary == r.view.primary; };
        auto const found = std::find_if(all.begin(), all.end(), same);
        if (found != all.end()) ++found->sentinels;
        else all.push_back({r.view.primary, r.view.epoch, servers, 1});
    }
    auto const newer = [](primary_candidate const& a, primary_candidate const& b) {
        return a.epoch != b.epoch ? a.epoch > b.epoch : a.sentinels > b.sentinels;
    };
    std::sort(all.begin(), all.end(), newer);
    return all;
}

std::size_t sentinels_of(std::vector<primary_candidate> const& all)
{
    std::size_t sum = 0;
    for (primary_candidate const& c : all) sum += c.sentinels;
    return sum;
}

}  // namespace

primary_choice choose_primary(std::vector<sentinel_report> const& reports, std::string const& master, group_memory const& known)
{
    auto const answered = count(reports, outcome::answered);
    if (answered == 0) return nobody_knows(reports, master);
    auto const servers = servers_of_most(reports, answered);
    auto candidates = candidates_of(reports, servers);
    if (candidates.empty()) return no_common_group(reports, master);
    auto const agree = sentinels_of(candidates);
    bool const most_agree = 2 * agree > reports.size();
    if (!known.servers.empty() && !most_agree && !share_a_server(known.servers, servers))
        return none(errc::node_unreachable, "the Sentinels that answered watch another master of the name \"" + master + "\" (" +
                                                primaries_of(reports) + "); it is waited for the others");

    auto const is_old = [&](primary_candidate const& c) { return c.epoch < known.newest_epoch; };
    bool const begun_anew = most_agree && std::all_of(candidates.begin(), candidates.end(), is_old);
    if (!begun_anew) std::erase_if(candidates, is_old);
    if (candidates.empty())
        return none(errc::node_unreachable, "the Sentinels that answered have not heard of the last failover (" +
                                                names(reports, outcome::answered) + "); it is waited for the others");
    return {std::move(candidates), answered, {}, {}};
}

primary_candidate const& candidate_to_use(primary_choice const& choice, std::optional<primary_candidate> const& refused)
{
    auto const& first = choice.candidates.front();
    bool const again = refused && first.primary == refused->primary && first.epoch == refused->epoch;
    return again && choice.candidates.size() > 1 ? choice.candidates[1] : first;
}

bool has_most_sentinels(primary_candidate const& candidate, std::size_t sentinels) { return 2 * candidate.sentinels > sentinels; }

primary_candidate const* successor_of(primary_candidate const& current, primary_choice const& choice)
{
    auto const supersedes = [&](primary_candidate const& c) { return c.epoch > current.epoch && c.primary != current.primary; };
    std::size_t sentinels = 0;
    for (primary_candidate const& c : choice.candidates)
        if (supersedes(c)) sentinels += c.sentinels;
    if (2 * sentinels <= choice.answered) return nullptr;
    return &*std::find_if(choice.candidates.begin(), choice.candidates.end(), supersedes);
}

acknowledgements acknowledgements_of(primary_candidate const& group, std::uint16_t wanted, std::string const& master)
{
    auto const replicas = group.size() - 1;
    if (replicas == 0)
        return {0, "the group \"" + master + "\" is a primary without replicas (" + to_string(group.primary) +
                       "), and nothing could take its place; start a replica (REPLICAOF), or write redis://" + to_string(group.primary) +
                       " for a single server"};
    if (wanted > replicas)
        return {0, "votes are to wait for " + std::to_string(wanted) + " replicas, and the group \"" + master + "\" has " +
                       std::to_string(replicas) + " (S = " + std::to_string(group.size()) + "); write replicas=" +
                       std::to_string(replicas) + " or less, or leave it out (" + std::to_string(group.size() / 2) + ')'};
    return {wanted > 0 ? wanted : static_cast<std::uint16_t>(group.size() / 2), ""};
}

}  // namespace redlock::detail
