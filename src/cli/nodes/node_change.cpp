#include "cli/nodes/node_change.hpp"

#include "cli/nodes/admission_wait.hpp"
#include "cli/output/exit_codes.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/settings.hpp"
#include "node/connection/node_address.hpp"
#include "protocol/admission_scripts.hpp"
#include "protocol/facts_reader.hpp"
#include "protocol/keys.hpp"
#include "quorum/votes.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <thread>
#include <utility>

namespace redlock::cli {

namespace {

using quorum::list_of;
using refused_for = quorum::set_change::refusal;

constexpr std::size_t max_looks = 20;  // other commands that change the set at the same time cost one each

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

std::string number_of(std::uint64_t n) { return std::to_string(n); }

std::string milliseconds_in_words(boot_clock::duration d)
{
    return number_of(static_cast<std::uint64_t>(std::chrono::ceil<milliseconds>(d).count())) + " ms";
}

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

std::vector<words> claim_of(quorum::set_change::step const& s, quorum::token_number base)
{
    return call_of(detail::claim_script(),
                   {"1", std::string{detail::node_record_key}, s.id, s.expected, s.text, number_of(s.stays), number_of(base)});
}

std::string why_not_moved(answers const& said)
{
    if (!said.ok()) return said.problem;
    reply const& answer = said.replies.back();
    if (answer.is_error()) return answer.text;
    return answer.items.size() == 2 && answer.items[0].number(0) == 1 ? "" : "its record has changed meanwhile";
}

}  // namespace

node_change::node_change(node_options const& from, quorum::wanted_change const& wanted, std::vector<std::string> const& named, bool json)
    : settings_{settings_of_servers(from).client}, wanted_{wanted}, json_{json}
{
    for (node_address const& n : settings_.nodes)
        if (n.cluster || n.sentinel || n.replicas > 0)
            throw failure{exit_code::config, n.to_string() + " is no single server: such a set cannot be changed yet; see "
                                                             "docs/operations.md, \"Changing the set\""};
    for (node_address const& n : settings_.nodes) members_.push_back(member_of(n));
    if (!wanted_.leaves.empty()) wanted_.leaves = name_of(wanted_.leaves);
    for (std::string& each : wanted_.join) {
        each = name_of(each);
        if (each == wanted_.leaves) throw failure{exit_code::usage, "OLD and NEW are the same server, " + each};
    }
    for (std::string const& each : named) name_of(each);
    if (settings_.nodes.size() > max_nodes)
        throw failure{exit_code::config,
                      number_of(settings_.nodes.size()) + " servers are named, and a command asks " + number_of(max_nodes) +
                          " at the most: to replace a member of so many, let it leave first (redlock nodes shrink), and then "
                          "let the other one join (redlock nodes grow)"};
    nodes_.emplace(settings_, from.timeout);
}

// What a record calls it. It is asked like the nodes of the list.
std::string node_change::name_of(std::string const& server)
{
    auto const address = address_from(server);
    auto const name = member_of(address);
    if (std::find(members_.begin(), members_.end(), name) == members_.end()) {
        members_.push_back(name);
        settings_.nodes.push_back(address);
    }
    return name;
}

std::vector<quorum::server_view> node_change::look()
{
    std::vector<quorum::server_view> all;
    auto const said = nodes_->ask(inspection());
    for (std::size_t i = 0; i < said.size(); ++i) all.push_back(view_of(members_[i], said[i]));
    return all;
}

void node_change::announce(quorum::set_change const& plan)
{
    if (plan.before().is_same_generation(plan.after())) return;
    std::string text;
    if (plan.finishes_another()) text = "another change was begun, and is finished first: " + quorum::in_words(plan.after());
    else if (plan.closes()) text = "the others become " + quorum::in_words(plan.after());
    else if (wanted_.leaves.empty())
        text = list_of(plan.joining()) + (plan.joining().size() == 1 ? " joins " : " join ") + quorum::in_words(plan.before());
    else if (wanted_.join.empty()) text = wanted_.leaves + " leaves " + quorum::in_words(plan.before());
    else text = wanted_.leaves + " is replaced by " + wanted_.join.front() + " in " + quorum::in_words(plan.before());
    if (text == announced_) return;
    announced_ = text;
    tell(terminal_.fold(printable(text), 2) + '\n');
}

void node_change::carry_out(std::optional<milliseconds> patience)
{
    std::string why_again;
    for (std::size_t failures = 0; failures < max_looks;) {
        auto const asked = boot_clock::now();
        auto const seen = look();
        auto const took = boot_clock::now() - asked;
        if (auto const most = quorum::max_look_time(seen, settings_.max_ttl, lock_options{}.clock_drift); took >= most) {
            why_again = "the servers took " + milliseconds_in_words(took) + " to answer, and what they say has to be of one moment, of " +
                        milliseconds_in_words(most) + " at the most; run this command again with a --timeout that is shorter";
            ++failures;
            continue;
        }
        quorum::set_change const plan{seen, wanted_};
        if (plan.refused() != refused_for::none) throw failure{code_of(plan.refused()), printable(plan.why())};
        auto const late = not_admitted_yet(plan, seen);
        auto const& counts = late.empty() ? plan.after() : plan.before();
        set_ = counts.members;
        votes_needed_ = quorum::majority(counts.size());
        if (plan.steps().empty() && !plan.finishes_another()) return wait_for(wanted_.join, patience);
        if (!late.empty()) {
            wait_for(late, patience);
            continue;
        }
        if (plan.is_to_be_drained() && !is_drained(plan)) continue;
        announce(plan);
        if (!take_steps(plan)) {
            why_again = "the members of the set change all the time: another command changes it as well; run this command again";
            ++failures;
            continue;
        }
        failures = 0;
        wait_for(plan.joining(), patience);
    }
    throw failure{exit_code::contended, why_again};
}

// Of a command that was interrupted between two servers: those that joined have to vote before more of them join, as the set could not lose a member meanwhile.
std::vector<std::string> node_change::not_admitted_yet(quorum::set_change const& plan, std::vector<quorum::server_view> const& seen) const
{
    if (plan.joining().empty() || plan.finishes_another() || plan.moved() > 0) return {};
    std::vector<std::string> late;
    for (quorum::server_view const& s : seen) {
        auto const is_among = [&s](std::vector<std::string> const& list) {
            return std::find(list.begin(), list.end(), s.member) != list.end();
        };
        if (s.facts && s.facts->admitted != s.facts->id && is_among(wanted_.join) && is_among(plan.before().members))
            late.push_back(s.member);
    }
    return late;
}

// Waits until leases and tokens of before are over. What the servers said before that does not count, so they are asked once more.
bool node_change::is_drained(quorum::set_change const& plan)
{
    auto const now = boot_clock::now();
    auto const ends = drain_.ends(plan, settings_.max_ttl, lock_options{}.clock_drift, now);
    if (now >= ends) return true;
    auto const text = number_of(plan.before().members.size()) + " members go on, and votes are counted as of " +
                      number_of(plan.before().size()) + ", for " +
                      number_of(static_cast<std::uint64_t>(std::chrono::ceil<std::chrono::seconds>(ends - now).count())) +
                      " s: until leases of before are over";
    tell(text + '\n');
    std::this_thread::sleep_for(ends - now);
    return false;
}

// False: a member has another record meanwhile, or does not answer.
bool node_change::take_steps(quorum::set_change const& plan)
{
    auto moved = plan.moved();
    bool const is_said_only = plan.before().is_same_generation(plan.after());
    for (auto const& step : plan.steps()) {
        auto const said = nodes_->ask_each(
            [&](std::size_t node) { return node == step.server ? claim_of(step, plan.base()) : std::vector<words>{}; });
        if (auto const why_not = why_not_moved(said[step.server]); !why_not.empty()) {
            tell(members_[step.server] + " has not moved: " + printable(why_not) + '\n');
            return false;
        }
        if (is_said_only) continue;
        ++moved;
        tell(members_[step.server] + " has moved to generation " + std::to_string(plan.after().generation) + " (" + number_of(moved) +
             "; " + number_of(plan.needed()) + " have to)\n");
    }
    return true;
}

// The nodes of the set, as it is now.
config node_change::settings_of_clients() const
{
    auto client = settings_;
    std::erase_if(client.nodes, [this](node_address const& n) { return std::find(set_.begin(), set_.end(), member_of(n)) == set_.end(); });
    return client;
}

void node_change::wait_for(std::vector<std::string> joining, std::optional<milliseconds> patience)
{
    // What somebody else has begun may let servers join that nobody named here.
    auto const is_known = [this](std::string const& member) {
        return std::find(members_.begin(), members_.end(), member) != members_.end();
    };
    for (auto const& member : joining)
        if (!is_known(member)) tell(member + " joins; it is not in the list of this command, so its admission is not awaited\n");
    std::erase_if(joining, std::not_fn(is_known));
    if (joining.empty()) return;
    bool const is_one = joining.size() == 1;
    tell(list_of(joining) + (is_one ? " joins; it votes in about " : " join; they vote in about ") +
         in_words(settings_of_clients().max_ttl) + '\n');
    auto const is_awaited = [&joining](std::string const& member) {
        return std::find(joining.begin(), joining.end(), member) != joining.end();
    };
    try {
        wait_for_admission(settings_of_clients(), patience, [this](std::string const& text) { tell(text); }, is_awaited);
    } catch (failure const& error) {
        if (error.code != exit_code::not_admitted) throw;
        throw failure{error.code, error.what() + std::string{"\n"} + what_counts_now()};
    }
    tell(list_of(joining) + (is_one ? " is" : " are") + " admitted\n");
}

// Of a change that was made, though who joins has no vote yet.
std::string node_change::what_counts_now() const
{
    return "The set has " + count_of(set_.size(), "member") + " now, and " + number_of(votes_needed_) +
           " of them must vote for a lock. Their list: " + list_of_clients() + ". The same command goes on with it.";
}

std::string node_change::list_of_clients() const
{
    std::string list;
    for (node_address const& n : settings_of_clients().nodes) list += (list.empty() ? "" : ", ") + n.to_string();
    return list;
}

void node_change::tell(std::string const& text)
{
    if (!json_) out_.say(text);
}

// The set is changed, also when nobody reads of it.
void node_change::report(std::vector<std::string> const& left)
{
    if (json_) {
        nlohmann::ordered_json j{{"members", set_}, {"needed", votes_needed_}, {"left", left}, {"nodes", nlohmann::ordered_json::array()}};
        for (node_address const& n : settings_of_clients().nodes) j["nodes"].push_back(n.to_string());
        out_.say(dump(j, 2));
    } else {
        say_list(left);
    }
    out_.check();
}

void node_change::say_list(std::vector<std::string> const& left)
{
    tell("Give every client this list of nodes, before the set is changed again: " + list_of_clients() + '\n');
    if (left.empty()) return;
    tell("Stop " + list_of(left) + (left.size() == 1 ? ", if it still runs" : ", if they still run") +
         ": clients with the old list go on without " + (left.size() == 1 ? "it" : "them") +
         ". Start no empty server at an address of before until every client has the new list.\n");
}

}  // namespace redlock::cli
