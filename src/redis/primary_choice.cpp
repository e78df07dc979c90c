#include "redis/primary_choice.hpp"

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

bool share_a_server(sentinel_view const& a, sentinel_view const& b)
{
    return std::any_of(a.servers.begin(), a.servers.end(),
                       [&](group_member const& m) { return std::find(b.servers.begin(), b.servers.end(), m) != b.servers.end(); });
}

primary_choice none(error_code why, std::string words) { return {{}, why, std::move(words)}; }

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

// Two that know no common server watch two groups of one name.
std::optional<primary_choice> two_groups(std::vector<sentinel_report> const& reports, std::string const& master)
{
    for (sentinel_report const& a : reports)
        for (sentinel_report const& b : reports) {
            bool const both = a.is == outcome::answered && b.is == outcome::answered;
            if (!both || share_a_server(a.view, b.view)) continue;
            return none(errc::node_unsuitable, "the Sentinels " + a.sentinel + " and " + b.sentinel +
                                                   " watch different masters of the name \"" + master + "\" (" + to_string(a.view.primary) +
                                                   " and " + to_string(b.view.primary) +
                                                   "), with no server in common; give only the Sentinels of one group");
        }
    return std::nullopt;
}

void add(std::vector<primary_candidate>& to, sentinel_view const& view)
{
    auto const same = [&](primary_candidate const& c) { return c.epoch == view.epoch && c.primary == view.primary; };
    auto found = std::find_if(to.begin(), to.end(), same);
    if (found == to.end()) {
        to.push_back({view.primary, view.epoch, {}, 0});
        found = to.end() - 1;
    }
    ++found->sentinels;
    for (group_member const& m : view.servers)
        if (std::find(found->servers.begin(), found->servers.end(), m) == found->servers.end()) found->servers.push_back(m);
}

}  // namespace

primary_choice choose_primary(std::vector<sentinel_report> const& reports, std::string const& master, std::uint64_t newest_seen)
{
    auto const known = count(reports, outcome::answered);
    if (known == 0) return nobody_knows(reports, master);
    if (auto conflict = two_groups(reports, master)) return *std::move(conflict);

    auto const is_old = [&](sentinel_report const& r) { return r.is == outcome::answered && r.view.epoch < newest_seen; };
    auto const old = static_cast<std::size_t>(std::count_if(reports.begin(), reports.end(), is_old));
    bool const begun_anew = old == known && old > reports.size() / 2;
    primary_choice choice;
    for (sentinel_report const& r : reports)
        if (r.is == outcome::answered && (begun_anew || !is_old(r))) add(choice.candidates, r.view);
    if (choice.candidates.empty())
        return none(errc::node_unreachable, "the Sentinels that answered have not heard of the last failover (" +
                                                names(reports, outcome::answered) + "); it is waited for the others");
    auto const newer = [](primary_candidate const& a, primary_candidate const& b) {
        return a.epoch != b.epoch ? a.epoch > b.epoch : a.sentinels > b.sentinels;
    };
    std::sort(choice.candidates.begin(), choice.candidates.end(), newer);
    return choice;
}

primary_candidate const& candidate_to_use(primary_choice const& choice, std::optional<primary_candidate> const& refused)
{
    auto const& first = choice.candidates.front();
    bool const again = refused && first.primary == refused->primary && first.epoch == refused->epoch;
    return again && choice.candidates.size() > 1 ? choice.candidates[1] : first;
}

bool has_most_sentinels(primary_candidate const& candidate, std::size_t sentinels) { return 2 * candidate.sentinels > sentinels; }

bool is_superseded(group_member const& current, std::uint64_t epoch, std::vector<sentinel_report> const& reports)
{
    auto const names_another = [&](sentinel_report const& r) {
        return r.is == outcome::answered && r.view.epoch > epoch && r.view.primary != current;
    };
    auto const others = static_cast<std::size_t>(std::count_if(reports.begin(), reports.end(), names_another));
    return others > count(reports, outcome::answered) / 2;
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
