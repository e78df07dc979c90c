// `redlock nodes`: replace, grow and shrink are node_change; show: which servers belong together, as they say it themselves.
#include "cli/nodes/node_change.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/table.hpp"
#include "cli/output/terminal.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/server_group.hpp"
#include "cli/servers/set_views.hpp"
#include "cli/servers/settings.hpp"
#include "protocol/keys.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <string>
#include <vector>

namespace redlock::cli {

namespace {

using kind = quorum::set_text::kind;
using nlohmann::ordered_json;

std::vector<set_view> look_at_sets(server_group& nodes, config const& settings)
{
    std::vector<set_view> all;
    auto const said = nodes.ask({{"GET", std::string{detail::set_record_key}}});
    for (std::size_t i = 0; i < nodes.size(); ++i)
        all.push_back({nodes.name(i), said[i].problem, said[i].ok() ? set_text_of(said[i].replies[0]) : ""});
    judge_sets(all, settings);
    return all;
}

std::string set_of(set_view const& v)
{
    auto const said = quorum::read_set_text(v.text);
    switch (said.is) {
    case kind::none: return "none";
    case kind::hidden: return "this user may not read it (ACL SETUSER ... ~redlock:set)";
    case kind::too_new: return "of a newer version";
    case kind::foreign: return "no record of a set";
    case kind::good: return said.record.id.substr(0, 8) + (said.record.complete ? "" : ", not complete");
    }
    return "";
}

std::string node_rows(terminal const& out, std::vector<set_view> const& all)
{
    table rows{{"node", "set", "generation"}};
    for (set_view const& v : all) {
        auto const said = quorum::read_set_text(v.text);
        if (!v.problem.empty()) rows.add({{v.node}, {printable(v.problem), tone::alarm, true}});
        else
            rows.add({{v.node},
                      {set_of(v), v.objection.empty() ? tone::plain : tone::alarm},
                      {said.is == kind::good ? std::to_string(said.record.generation) : "-"}});
    }
    return rows.text(out, "");
}

// Each set that a node has named, once; of one that is being changed, each generation.
std::vector<quorum::set_record> sets_in(std::vector<set_view> const& all)
{
    std::vector<quorum::set_record> sets;
    for (set_view const& v : all) {
        auto const said = quorum::read_set_text(v.text);
        auto const is_same = [&](quorum::set_record const& r) { return r.is_same_generation(said.record); };
        if (said.is == kind::good && std::none_of(sets.begin(), sets.end(), is_same)) sets.push_back(said.record);
    }
    return sets;
}

ordered_json to_json(std::vector<set_view> const& all)
{
    ordered_json j{{"sets", ordered_json::array()}, {"nodes", ordered_json::array()}};
    for (quorum::set_record const& r : sets_in(all))
        j["sets"].push_back({{"id", r.id},
                             {"name", r.name.empty() ? ordered_json{} : ordered_json(r.name)},
                             {"size", r.members.size()},
                             {"votes_counted_as_of", r.size()},
                             {"generation", r.generation},
                             {"founded", r.since},
                             {"complete", r.complete},
                             {"shard", r.shards == 0 ? ordered_json{} : ordered_json(r.shard)},
                             {"shards", r.shards == 0 ? ordered_json{} : ordered_json(r.shards)},
                             {"members", r.members}});
    for (set_view const& v : all) {
        auto const said = quorum::read_set_text(v.text);
        j["nodes"].push_back({{"node", v.node},
                              {"problem", v.problem.empty() ? ordered_json{} : ordered_json(v.problem)},
                              {"set", said.is == kind::good ? ordered_json(said.record.id) : ordered_json{}},
                              {"refused", v.objection.empty() ? ordered_json{} : ordered_json(v.objection)}});
    }
    return j;
}

exit_code verdict(std::vector<set_view> const& all)
{
    auto const is_refused = [](set_view const& v) { return !v.objection.empty(); };
    if (std::any_of(all.begin(), all.end(), is_refused)) return exit_code::config;
    auto const answered = [](set_view const& v) { return v.problem.empty(); };
    auto const count = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), answered));
    return count > all.size() / 2 ? exit_code::success : exit_code::no_majority;
}

}  // namespace

namespace {

void change(nodes_options const& options, std::vector<quorum::wanted_change> const& one_after_the_other)
{
    ::signal(SIGPIPE, SIG_IGN);  // a change that was begun is finished, also when nobody reads of it
    std::vector<std::string> left;
    for (quorum::wanted_change const& wanted : one_after_the_other) {
        node_change carried_out{options.from, wanted, options.servers, options.json};
        carried_out.carry_out(options.timeout);
        if (!wanted.leaves.empty()) left.push_back(wanted.leaves);
        if (&wanted == &one_after_the_other.back()) carried_out.report(left);
    }
}

int replace(nodes_options const& options)
{
    if (options.servers.size() != 2)
        throw failure{exit_code::usage, "redlock nodes replace needs two servers: the member that leaves, and the one that joins"};
    change(options, {{options.servers[0], {options.servers[1]}}});
    return to_int(exit_code::success);
}

int grow(nodes_options const& options)
{
    if (options.servers.empty()) throw failure{exit_code::usage, "redlock nodes grow needs the servers that join"};
    change(options, {{{}, options.servers, options.may_end_leases}});
    return to_int(exit_code::success);
}

int shrink(nodes_options const& options)
{
    if (options.servers.empty()) throw failure{exit_code::usage, "redlock nodes shrink needs the members that leave"};
    std::vector<quorum::wanted_change> all;
    for (std::string const& each : options.servers) all.push_back({each, {}});
    change(options, all);
    return to_int(exit_code::success);
}

}  // namespace

int execute(nodes_options const& options)
{
    if (options.action == "replace") return replace(options);
    if (options.action == "grow") return grow(options);
    if (options.action == "shrink") return shrink(options);
    if (options.action != "show")
        throw failure{exit_code::usage, "redlock nodes can show, replace, grow and shrink; it cannot " + name_in_words(options.action) +
                                            "; see redlock nodes --help"};
    if (!options.servers.empty()) throw failure{exit_code::usage, "redlock nodes show takes no servers; name them with --nodes"};
    auto const settings = settings_of_servers(options.from).client;
    server_group nodes{settings, options.from.timeout};
    auto const all = look_at_sets(nodes, settings);
    terminal const out;
    if (options.json) {
        out.write(dump(to_json(all), 2));
        return to_int(verdict(all));
    }
    auto const sets = sets_in(all);
    for (quorum::set_record const& r : sets)
        out.write(out.fold(printable(quorum::in_words(r)) + (r.generation == 0 ? ", generation 0" : ""), 2) + '\n');
    bool const any_answered = std::any_of(all.begin(), all.end(), [](set_view const& v) { return v.problem.empty(); });
    if (sets.empty() && any_answered) out.write("no node has a record of its set: the first client with a lock with fencing writes it\n");
    out.write(node_rows(out, all));
    std::vector<std::string> said;
    for (set_view const& v : all) {
        if (v.objection.empty() || std::find(said.begin(), said.end(), v.objection) != said.end()) continue;
        said.push_back(v.objection);
        out.write('\n' + out.fold(out.paint(tone::alarm, "refused") + "  " + v.node + ": " + printable(v.objection), 2) + '\n');
    }
    return to_int(verdict(all));
}

}  // namespace redlock::cli
