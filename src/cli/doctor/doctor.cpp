// `redlock doctor`: reports what endangers locks on these nodes, the worst first. doctor_probes asks the nodes, doctor_rules judges the
// answers.
#include "cli/doctor/doctor_cluster.hpp"
#include "cli/doctor/doctor_probes.hpp"
#include "cli/doctor/finding_text.hpp"
#include "cli/doctor/votes.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/table.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>
#include <vector>

namespace redlock::cli {

namespace {

using nlohmann::ordered_json;

std::size_t count(std::vector<finding> const& all, severity s)
{
    return static_cast<std::size_t>(std::count_if(all.begin(), all.end(), [s](finding const& f) { return f.is == s; }));
}

std::string clock_in_words(doctor_probe const& n)
{
    auto const clock = n.best_clock();
    if (!clock) return "-";
    bool const known = std::chrono::abs(clock->ahead) > clock->round_trip / 2;
    return known ? (clock->ahead.count() > 0 ? "+" : "") + in_words(clock->ahead) : "0 +- " + in_words(clock->round_trip / 2);
}

std::string or_dash(std::string_view text) { return text.empty() ? "-" : printable(text); }

std::string node_rows(terminal const& out, std::vector<doctor_probe> const& nodes)
{
    table rows{{"node", "version", "role", "user", "up for", "persistence", "round trip", "clock"}};
    for (doctor_probe const& n : nodes) {
        if (!n.problem.empty()) {
            rows.add({{n.node}, {printable(n.problem), tone::alarm, true}});
            continue;
        }
        rows.add({{n.node},
                  {or_dash(n.version())},
                  {or_dash(n.field("role"))},
                  {or_dash(n.user)},
                  {n.info.empty() ? "-" : in_words(std::chrono::seconds{n.number("uptime_in_seconds")})},
                  {n.persistence()},
                  {in_words(n.round_trip())},
                  {clock_in_words(n)}});
    }
    return rows.text(out, "");
}

std::string summary(std::vector<finding> const& found)
{
    auto const dangers = count(found, severity::danger), warnings = count(found, severity::warning);
    if (dangers + warnings == 0) return "healthy";
    std::string text = "not healthy: ";
    if (dangers > 0) text += count_of(dangers, "danger") + (warnings > 0 ? " and " : "");
    if (warnings > 0) text += count_of(warnings, "warning");
    return text;
}

void write_findings(terminal const& out, std::vector<finding> const& found)
{
    for (finding const& f : found) out.write(paragraph(out, f));
    out.write('\n' + summary(found) + '\n');
}

exit_code verdict(std::vector<finding> const& found)
{
    if (count(found, severity::danger) > 0) return exit_code::dangers;
    return count(found, severity::warning) > 0 ? exit_code::warnings : exit_code::success;
}

ordered_json report_to_json(std::vector<finding> const& found, ordered_json nodes)
{
    ordered_json j{{"healthy", verdict(found) == exit_code::success},
                   {"dangers", count(found, severity::danger)},
                   {"warnings", count(found, severity::warning)},
                   {"findings", ordered_json::array()},
                   {"nodes", std::move(nodes)}};
    for (finding const& f : found) j["findings"].push_back(to_json(f));
    return j;
}

ordered_json to_json(std::vector<doctor_probe> const& nodes)
{
    ordered_json all = ordered_json::array();
    for (doctor_probe const& n : nodes) {
        auto const clock = n.best_clock();
        ordered_json node{{"node", n.node}, {"problem", n.problem.empty() ? ordered_json{} : ordered_json(n.problem)}};
        node["version"] = n.version();
        node["role"] = n.field("role");
        node["user"] = n.user;
        node["up_for_s"] = n.field("uptime_in_seconds").empty() ? ordered_json{} : ordered_json(n.number("uptime_in_seconds"));
        node["persistence"] = n.persistence();
        node["round_trip_us"] = clock ? ordered_json(clock->round_trip.count() / 1'000) : ordered_json{};
        node["clock_ahead_us"] = clock ? ordered_json(clock->ahead.count() / 1'000) : ordered_json{};
        if (n.group)
            node["group"] = {{"primary", n.group->primary}, {"epoch", n.group->epoch},
                             {"servers", n.group->size},    {"acknowledgements", n.group->acknowledgements},
                             {"missing", n.group->missing}, {"unknown", n.group->unknown}};
        all.push_back(std::move(node));
    }
    return all;
}

// What a client sees comes first: it is the one that must get a majority of votes.
std::vector<finding> with_verdict(std::vector<finding> found, settings const& from, std::vector<doctor_probe> const& asked,
                                  std::chrono::milliseconds timeout)
{
    // Of a cluster it says nothing of each shard.
    std::string const of_shards =
        "run redlock admit now: it waits until all shards vote, " + in_words(from.client.max_ttl) +
        " for those that were moved or promoted, and says what others lack; a primary that is down votes again when it is "
        "started, or a replica was promoted";
    bool const with_tokens = from.lock.fencing;
    auto seen = look_as_a_client(from.client, with_tokens, timeout);
    note_what_a_lock_shows(seen, asked, from.client);
    auto const set = words_of_set(asked, from.client);
    auto all = asked.empty() ? judge_votes(seen, with_tokens, set, of_shards) : judge_votes(seen, with_tokens, set);
    for (finding& f : found) all.push_back(std::move(f));
    return gravest_first(std::move(all));
}

// Clusters are judged by their map of slots.
int execute(doctor_options const& options, settings const& from)
{
    terminal const out;
    std::vector<finding> found;
    ordered_json clusters = ordered_json::array();
    auto const reports = examine_clusters(from.client, options.from.timeout);
    for (std::size_t i = 0; i < reports.size(); ++i) {
        node_address const& cluster = from.client.nodes[i];
        for (finding& f : diagnose_cluster(cluster, reports[i])) found.push_back(std::move(f));
        auto const lines = shard_lines(cluster, reports[i].said.map);
        if (!options.json) out.write(reports[i].cluster + '\n' + lines);
        clusters.push_back({{"node", reports[i].cluster}, {"slots_covered", reports[i].said.map.covered()}});
    }
    found = with_verdict(std::move(found), from, {}, options.from.timeout);
    if (options.json) {
        out.write(dump(report_to_json(found, std::move(clusters)), 2));
    } else {
        write_findings(out, found);
    }
    return to_int(verdict(found));
}

}  // namespace

int execute(doctor_options const& options)
{
    if (auto const of_clusters = settings_of_clusters(options.from)) return execute(options, *of_clusters);
    auto from = settings_of(options.from, options.name.empty() ? std::vector<std::string>{} : std::vector{options.name});
    if (options.ttl) from.lock.ttl = *options.ttl;
    try {
        validate(from.lock);
    } catch (std::invalid_argument const& error) {
        throw failure{exit_code::usage, in_terms_of_options(error.what(), options.from)};
    }
    server_group nodes{from.client, options.from.timeout};
    nodes.leave_out_silent();
    auto const checkups = examine(nodes, from.client, options.from.timeout, options.name);
    auto const found = with_verdict(diagnose(checkups, from.client, from.lock), from, checkups, options.from.timeout);

    terminal const out;
    if (options.json) {
        out.write(dump(report_to_json(found, to_json(checkups)), 2));
    } else {
        out.write(node_rows(out, checkups));
        write_findings(out, found);
    }
    return to_int(verdict(found));
}

}  // namespace redlock::cli
