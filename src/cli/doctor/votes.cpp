#include "cli/doctor/votes.hpp"

#include "cli/doctor/doctor_admission.hpp"
#include "cli/doctor/doctor_probes.hpp"
#include "cli/doctor/grants.hpp"
#include "cli/output/text.hpp"
#include "cli/servers/set_views.hpp"
#include "protocol/keys.hpp"

#include <redlock/client.hpp>

#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace redlock::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto asks_again_after = 10ms;
constexpr std::string_view wait_begins_with_next_lock = "begins with the next lock";

std::string why_not(node_status const& n)
{
    if (n.state == node_state::connecting) return "no connection so far";
    if (n.state != node_state::usable) return n.last_error_text.empty() ? n.last_error.message() : n.last_error_text;
    // Whether somebody waits for it, and for how long, this client does not know: it does not begin to.
    if (n.admission == admission_state::uninitialized && n.admission_text.ends_with(wait_begins_with_next_lock))
        return n.admission_text.substr(0, n.admission_text.find(';'));
    if (!n.admission_text.empty()) return n.admission_text;
    return n.clock_text.empty() ? std::string{"it has not said yet which data it has"} : n.clock_text;
}

// "a, b: why; c: why else"
std::string reasons(std::vector<node_status> const& nodes, std::size_t shard, bool with_tokens)
{
    std::vector<std::pair<std::string, std::string>> all;  // nodes, and why they do not vote
    for (node_status const& n : nodes) {
        if (n.shard != shard || votes(n, with_tokens)) continue;
        auto why = why_not(n);
        auto const same = std::find_if(all.begin(), all.end(), [&](auto const& each) { return each.second == why; });
        if (same == all.end()) all.emplace_back(n.node, std::move(why));
        else same->first += ", " + n.node;
    }
    std::string text;
    for (auto const& [some, why] : all) text += (text.empty() ? "" : "; ") + some + ": " + why;
    return text;
}

}  // namespace

bool votes(node_status const& n, bool with_tokens)
{
    if (n.state != node_state::usable) return false;
    return !with_tokens || (n.admission == admission_state::admitted && n.clock_text.empty());
}

bool has_spoken(node_status const& n, bool with_tokens)
{
    if (n.state == node_state::down) return true;
    return n.state == node_state::usable && (!with_tokens || n.admission != admission_state::unknown);
}

std::string vote_count::text() const
{
    if (votes == 0) return all == 1 ? "the node does not vote" : "no node votes";
    return std::to_string(votes) + " of " + count_of(all, "node") + (votes == 1 ? " votes" : " vote");
}

std::vector<node_status> look_as_a_client(config settings, bool with_tokens, std::chrono::milliseconds timeout)
{
    settings.connect_timeout = std::min(settings.connect_timeout, timeout);
    asio::io_context io{1};
    client nodes{io.get_executor(), settings};
    asio::steady_timer timer{io};
    auto const ends = std::chrono::steady_clock::now() + timeout;
    std::vector<node_status> seen;
    std::function<void()> const look = [&] {
        seen = nodes.status().nodes;
        bool const all = std::all_of(seen.begin(), seen.end(), [&](node_status const& n) { return has_spoken(n, with_tokens); });
        if (all || std::chrono::steady_clock::now() >= ends) return nodes.cancel();
        timer.expires_after(asks_again_after);
        timer.async_wait([&](error_code) { look(); });
    };
    nodes.run(asio::detached);
    look();
    io.run();
    return seen;
}

std::string vote_count::text_of_needed() const { return all == 1 && of_set <= 1 ? "" : ", and " + std::to_string(needed()) + " must"; }

std::vector<finding> judge_votes(std::vector<node_status> const& nodes, bool with_tokens, set_words const& said, std::string const& remedy)
{
    std::map<std::size_t, vote_count> shards;
    for (node_status const& n : nodes) {
        vote_count& count = shards[n.shard];
        ++count.all;
        count.of_set = said.needed;
        if (votes(n, with_tokens)) ++count.votes;
    }
    std::string const kind = with_tokens ? "a lock with a token" : "a lock";
    struct trouble {
        std::size_t shards{0};
        vote_count first;
        std::string why;
    };
    trouble stuck, tight;
    for (auto const& [shard, count] : shards) {
        if (count.is_enough() && !count.is_tight()) continue;
        trouble& of = count.is_enough() ? tight : stuck;
        if (of.shards++ == 0) of = {1, count, reasons(nodes, shard, with_tokens)};
    }
    auto const where = [&](trouble const& of) {
        return shards.size() == 1 ? std::string{} : " in " + std::to_string(of.shards) + " of " + count_of(shards.size(), "shard");
    };
    auto const in_numbers = [&](trouble const& of) {
        bool const is_another = said.size > 0 && said.size != of.first.all;
        return of.first.text() + of.first.text_of_needed() + (is_another ? ", as the set has " + count_of(said.size, "member") : "") +
               (of.why.empty() ? "" : " (" + of.why + ')');
    };
    if (stuck.shards > 0)
        return {{severity::danger, "", "nobody can acquire " + kind + " now" + where(stuck) + ": " + in_numbers(stuck), remedy}};
    if (tight.shards == 0) return {};
    bool const all_vote = tight.first.votes == tight.first.all;
    return {{severity::warning, "", "no further node may fail" + where(tight) + ": " + in_numbers(tight),
             all_vote ? "name all members in the list of nodes (redlock nodes show)" : "bring the others back; see what is said of each"}};
}

void note_what_a_lock_shows(std::vector<node_status>& nodes, std::vector<doctor_probe> const& asked, config const& settings)
{
    if (nodes.size() != asked.size() || nodes.size() != settings.nodes.size()) return;  // all shards of a cluster
    bool const are_admitted_then = vote_when_asked(asked, settings);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].state != node_state::usable || !asked[i].problem.empty()) continue;
        if (are_admitted_then) nodes[i].admission = admission_state::admitted;
        if (asked[i].has_foreign_record()) {
            nodes[i].admission = admission_state::needs_operator;
            nodes[i].admission_text = its_record_is_foreign;
        }
        auto why = why_it_grants_nothing(asked[i], settings.nodes[i]);
        if (why.empty()) continue;
        nodes[i].state = node_state::down;
        nodes[i].last_error_text = std::move(why);
    }
}

set_words words_of_set(std::vector<doctor_probe> const& nodes, config const& settings)
{
    std::vector<set_view> sets;
    for (doctor_probe const& n : nodes) sets.push_back({n.node, n.problem, n.set});
    auto const is = judge_sets(sets, settings);
    if (!is.voters.can_decide() || is.size == nodes.size()) return {};
    return {is.voters.needed, is.size};
}

vote_report report_about_votes(server_group& nodes, settings const& from, std::chrono::milliseconds timeout)
{
    bool const with_tokens = from.lock.fencing;
    auto const said = nodes.ask({{"GET", std::string{detail::set_record_key}},
                                 {"INFO", "all"},
                                 {"GET", std::string{detail::node_record_key}},
                                 {"GET", std::string{detail::high_water_key}},
                                 trial_of_writing()});
    std::vector<doctor_probe> probes(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        probes[i].problem = said[i].problem;
        if (!said[i].ok()) continue;
        probes[i].set = set_text_of(said[i].replies[0]);
        if (said[i].replies[1].is_text()) probes[i].info = said[i].replies[1].text;
        if (said[i].replies[2].is_text()) probes[i].record = said[i].replies[2].text;
        probes[i].has_high_water = said[i].replies[3].is_text();
        probes[i].takes_no_writes = why_no_writes(said[i].replies[4]);
    }
    auto seen = look_as_a_client(from.client, with_tokens, timeout);
    note_what_a_lock_shows(seen, probes, from.client);
    auto const set = words_of_set(probes, from.client);
    auto found = judge_votes(seen, with_tokens, set);
    for (finding& f : found) f.remedy = "redlock doctor says what is wrong with each node, until when, and what to do";
    return {std::move(found), set};
}

}  // namespace redlock::cli
