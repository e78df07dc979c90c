#include "cli/servers/set_views.hpp"

#include "node/connection/node_address.hpp"
#include "quorum/sets/set_membership.hpp"

namespace redlock::cli {

std::string set_text_of(reply const& r)
{
    if (r.is_error()) return quorum::unreadable_set + r.text;
    return r.is_text() ? r.text : "";
}

set_numbers judge_sets(std::vector<set_view>& all, config const& settings)
{
    if (settings.nodes.front().cluster) return {quorum::electorate{all.size()}, all.size()};  // its servers have no record of a set
    quorum::set_settings own;
    for (node_address const& n : settings.nodes) own.members.push_back(quorum::member_name(member_address(n)));
    own.name = settings.set_name;
    if (settings.place && settings.place->shards > 1) {
        own.shard = settings.place->shard;
        own.shards = settings.place->shards;
    }
    quorum::set_membership sets{std::move(own)};
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (!all[i].problem.empty()) continue;
        quorum::node_facts facts;
        facts.id = "?";  // it has answered
        facts.set = all[i].text;
        sets.on_facts(i, facts, {}, {});
    }
    for (std::size_t i = 0; i < all.size(); ++i)
        if (all[i].problem.empty()) all[i].objection = sets.objection(i);
    return {sets.voters(), sets.size()};
}

}  // namespace redlock::cli
