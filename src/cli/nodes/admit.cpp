// redlock admit: waits until every node is admitted for locks with fencing, and prints meanwhile what each waits for.
#include "cli/nodes/admission_wait.hpp"
#include "cli/options/commands.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/progress.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <string>
#include <vector>

namespace redlock::cli {

namespace {

std::string json_of_admitted(std::vector<node_status> const& all, bool of_clusters)
{
    auto list = nlohmann::ordered_json::array();
    for (node_status const& n : all) {
        list.push_back({{"node", n.node}, {"admission", to_string(n.admission)}});
        if (of_clusters) list.back()["shard"] = n.shard;
    }
    return dump({{"admitted", true}, {"nodes", std::move(list)}}, 2);
}

}  // namespace

int execute(admit_options const& options)
{
    ::signal(SIGPIPE, SIG_IGN);  // it goes on, also when nobody reads of it
    auto const of_clusters = settings_of_clusters(options.from);
    auto const settings = of_clusters ? of_clusters->client : settings_of(options.from).client;
    progress out;
    auto const say = [&](std::string const& text) {
        if (!options.json) out.say(text);
    };
    try {
        auto const all = wait_for_admission(settings, options.timeout, say);
        std::string const kind = of_clusters ? "shard" : "node";
        if (options.json) out.say(json_of_admitted(all, of_clusters.has_value()));
        else out.say(all.size() == 1 ? "the " + kind + " is admitted\n" : "all " + count_of(all.size(), kind) + " are admitted\n");
    } catch (failure const& error) {
        if (options.json) out.say(dump({{"admitted", false}, {"problem", error.what()}}, 2));
        throw;
    }
    out.check();
    return to_int(exit_code::success);
}

}  // namespace redlock::cli
