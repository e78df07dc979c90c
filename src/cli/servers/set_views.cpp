#include "cli/servers/set_views.hpp"

#include "node/connection/node_address.hpp"
#include "protocol/keys.hpp"
#include "quorum/sets/left_set.hpp"
#include "quorum/sets/set_membership.hpp"

#include <algorithm>
#include <utility>

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
    for (std::size_t i = 0; i < all.size(); ++i) all[i].has_left = !sets.is_list_refused() && sets.was_left_by(i);
    return {sets.voters(), sets.size()};
}

set_words words_of_set(std::vector<set_view> all, config const& settings)
{
    auto const is = judge_sets(all, settings);
    if (!is.voters.can_decide() || is.size == all.size()) return {};
    return {is.voters.needed, is.size};
}

std::vector<words> question_about_set(config const& settings)
{
    if (settings.nodes.front().cluster) return {};
    return {{"GET", std::string{detail::set_record_key}}};
}

set_words words_of_set(std::vector<answers> const& all, std::size_t at, config const& settings)
{
    std::vector<set_view> sets;
    for (std::size_t i = 0; i < all.size(); ++i) {
        bool const is_told = all[i].ok() && all[i].replies.size() > at;
        sets.push_back({settings.nodes[i].to_string(), is_told ? "" : "not told", is_told ? set_text_of(all[i].replies[at]) : ""});
    }
    return words_of_set(std::move(sets), settings);
}

bool has_left_the_set(node_status const& n)
{
    return n.state == node_state::down && n.last_error == errc::wrong_node_set && n.last_error_text.starts_with(quorum::has_left_the_set);
}

std::size_t votes_needed(std::vector<node_status> const& nodes, set_words const& said)
{
    if (said.needed > 0) return said.needed;
    auto const left = static_cast<std::size_t>(std::count_if(nodes.begin(), nodes.end(), has_left_the_set));
    return quorum::majority(nodes.size() - left);
}

}  // namespace redlock::cli
