#include "cli/node_replacement.hpp"

#include "cli/admission_wait.hpp"
#include "cli/exit_codes.hpp"
#include "cli/settings.hpp"
#include "cli/text.hpp"
#include "redis/admission_scripts.hpp"
#include "redis/facts_reader.hpp"
#include "redis/keys.hpp"
#include "redis/node_address.hpp"

#include <algorithm>
#include <utility>

namespace redlock::cli {

namespace {

using refused_for = quorum::set_change::refusal;

constexpr std::size_t looks_max = 20;  // other commands that change the set at the same time cost one each
constexpr char const* yes = "1";

node_address address_from(std::string const& text)
{
    try {
        return node_address::from_url(text.find("://") == text.npos ? "redis://" + text : text);
    } catch (config_error const& e) {
        throw failure{exit_code::usage, e.what()};
    }
}

std::string member_of(node_address const& a) { return quorum::member_name(member_address(a)); }

exit_code code_of(refused_for why)
{
    switch (why) {
    case refused_for::too_few: return exit_code::no_majority;
    case refused_for::outrun: return exit_code::contended;
    case refused_for::none:
    case refused_for::request: break;
    }
    return exit_code::config;
}

std::string number_of(std::size_t n) { return std::to_string(n); }

quorum::server_view view_of(std::string member, answers const& said)
{
    quorum::server_view s{std::move(member), std::nullopt, said.problem};
    if (!said.ok()) return s;
    reply const& list = said.replies.back();
    if (list.is_error()) {
        s.problem = list.text;
        return s;
    }
    detail::facts_reader facts;
    for (std::size_t i = 0; i < list.items.size(); ++i) facts.on_element(i, list.items[i].text);
    s.facts = facts.take();
    return s;
}

// Users with few rights have EVALSHA, and not EVAL.
std::vector<words> call_of(detail::script const& s, words keys_and_arguments)
{
    words call{"EVALSHA", s.sha1};
    call.insert(call.end(), keys_and_arguments.begin(), keys_and_arguments.end());
    return {{"SCRIPT", "LOAD", std::string{s.text}}, std::move(call)};
}

std::vector<words> inspection()
{
    return call_of(detail::inspect_script(), {"2", std::string{detail::node_record_key}, std::string{detail::high_water_key}});
}

std::vector<words> claim_of(quorum::set_change::step const& s)
{
    return call_of(detail::claim_script(), {"1", std::string{detail::node_record_key}, s.id, s.expected, s.text, yes});
}

std::string why_not_moved(answers const& said)
{
    if (!said.ok()) return said.problem;
    reply const& answer = said.replies.back();
    if (answer.is_error()) return answer.text;
    return answer.items.size() == 2 && answer.items[0].number(0) == 1 ? "" : "its record has changed meanwhile";
}

}  // namespace

node_replacement::node_replacement(node_options const& from, std::string const& leaves, std::string const& joins)
    : settings_{settings_of_servers(from).client}
{
    auto const old_node = address_from(leaves), new_node = address_from(joins);
    leaves_ = member_of(old_node);
    joins_ = member_of(new_node);
    if (leaves_ == joins_) throw failure{exit_code::usage, "OLD and NEW are the same server, " + leaves_};
    for (node_address const& n : settings_.nodes)
        if (n.cluster || n.sentinel || n.replicas > 0)
            throw failure{exit_code::config, n.to_string() + " is no single server: such a set cannot be changed yet; see "
                                                             "docs/operations.md, \"Changing the set\""};
    for (node_address const& n : settings_.nodes) members_.push_back(member_of(n));
    for (node_address const& n : {old_node, new_node}) {
        if (std::find(members_.begin(), members_.end(), member_of(n)) != members_.end()) continue;
        members_.push_back(member_of(n));
        settings_.nodes.push_back(n);
    }
    nodes_.emplace(settings_, from.timeout);
}

std::vector<quorum::server_view> node_replacement::look()
{
    std::vector<quorum::server_view> all;
    auto const said = nodes_->ask(inspection());
    for (std::size_t i = 0; i < said.size(); ++i) all.push_back(view_of(members_[i], said[i]));
    return all;
}

void node_replacement::announce(quorum::set_change const& plan)
{
    auto const text = plan.finishes_another() ? "another change was begun, and is finished first: " + quorum::in_words(plan.after())
                                              : leaves_ + " is replaced by " + joins_ + " in " + quorum::in_words(plan.before());
    if (text == announced_) return;
    announced_ = text;
    out_.write(out_.fold(printable(text), 2) + '\n');
}

void node_replacement::move()
{
    for (std::size_t i = 0; i < looks_max; ++i) {
        quorum::set_change const plan{look(), leaves_, joins_};
        if (plan.refused() != refused_for::none) throw failure{code_of(plan.refused()), printable(plan.why())};
        if (plan.steps().empty() && !plan.finishes_another()) return;
        announce(plan);
        carry_out(plan);
    }
    throw failure{exit_code::contended,
                  "the members of the set change all the time: another command changes it as well; run this command again"};
}

// False: a member has another record meanwhile, or does not answer.
bool node_replacement::carry_out(quorum::set_change const& plan)
{
    auto moved = plan.moved();
    for (auto const& step : plan.steps()) {
        auto const said = nodes_->ask_each([&](std::size_t node) { return node == step.server ? claim_of(step) : std::vector<words>{}; });
        if (auto const why_not = why_not_moved(said[step.server]); !why_not.empty()) {
            out_.write(members_[step.server] + " has not moved: " + printable(why_not) + '\n');
            return false;
        }
        ++moved;
        out_.write(members_[step.server] + " has moved to generation " + std::to_string(plan.after().generation) + " (" + number_of(moved) +
                   "; a majority is " + number_of(plan.needed()) + ")\n");
    }
    return true;
}

void node_replacement::admit_new_member(std::optional<milliseconds> patience) const
{
    auto client = settings_;
    std::erase_if(client.nodes, [this](node_address const& n) { return member_of(n) == leaves_; });
    out_.write(joins_ + " joins: it has a vote when all leases are over that it does not know\n");
    wait_for_admission(client, patience, [this](std::string const& member) { return member == joins_; });
    std::string list;
    for (node_address const& n : client.nodes) list += (list.empty() ? "" : ", ") + n.to_string();
    out_.write(joins_ + " is admitted. Give every client this list of nodes, before the set is changed again: " + list + '\n');
    out_.write("Stop " + leaves_ + ", if it still runs: clients with the old list go on without it.\n");
}

}  // namespace redlock::cli
