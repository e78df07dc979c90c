#include "cli/locks/waiting.hpp"

#include "cli/locks/lock_view_text.hpp"
#include "cli/output/text.hpp"
#include "quorum/votes.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace redlock::cli {

namespace {

// Why a node has no vote; empty if it has one.
std::string why_no_vote(node_status const& node, bool fencing)
{
    if (node.state != node_state::usable) return node.last_error_text.empty() ? "no connection so far" : node.last_error_text;
    return fencing && !node.admission_text.empty() ? node.admission_text : node.clock_text;
}

// Where the others are too few to admit a node, the time that is left of its quarantine says nothing.
std::string without_vain_countdown(std::string why, client_status const& all)
{
    auto const needs_operator = [](node_status const& n) { return n.admission == admission_state::needs_operator; };
    auto const counts_down = why.find(" left until");
    if (counts_down == why.npos || std::none_of(all.nodes.begin(), all.nodes.end(), needs_operator)) return why;
    return why.substr(0, why.rfind(": ", counts_down)) + ", and too few nodes have their data to admit it";
}

std::string line_of(std::string const& node, std::string const& why) { return "\n  " + node + ": " + printable(why); }

bool is_held_by_another(lock_view const& lock) { return lock.state == lock_state::held && !lock.is_asked_for_here; }

// Precondition: the lock is held.
std::string holder_of(lock_view const& lock)
{
    auto const& key = lock.nodes[*lock.holder];
    auto const since = held_for(key);
    return holder_in_words(key) + (since.empty() ? "" : ", " + since) + wish_in_words(lock);
}

}  // namespace

std::size_t count_voting(client_status const& nodes, bool fencing)
{
    auto const votes = [&](node_status const& n) { return why_no_vote(n, fencing).empty(); };
    return static_cast<std::size_t>(std::count_if(nodes.nodes.begin(), nodes.nodes.end(), votes));
}

std::string failure_in_words(error_code why, client_status const& nodes, bool fencing)
{
    bool const is_of_votes = why == errc::no_majority || why == errc::acquire_timed_out_no_majority;
    auto const all = nodes.nodes.size();
    if (!is_of_votes || count_voting(nodes, fencing) >= quorum::majority(all)) return why.message();
    return all == 1 ? "the node does not vote" : "no majority of nodes may vote";
}

std::string nodes_without_vote(client_status const& nodes, bool fencing)
{
    std::string text;
    for (node_status const& n : nodes.nodes)
        if (auto const why = why_no_vote(n, fencing); !why.empty()) text += line_of(n.node, without_vain_countdown(why, nodes));
    return text;
}

std::string waiting_in_words(lock_view const& lock, client_status const& nodes, bool fencing, std::chrono::nanoseconds waited)
{
    auto const without_vote = nodes_without_vote(nodes, fencing);
    auto const voting = count_voting(nodes, fencing);
    std::string text = "waiting for " + name_in_words(lock.name) + " for " + in_words(waited);
    bool const held = is_held_by_another(lock);
    if (held) text += ": it is held by " + holder_of(lock);
    if (voting < lock.majority) {
        text += held ? "; and " : ": ";
        if (nodes.nodes.size() == 1) return text + "the node has no vote" + without_vote;
        return text + "only " + std::to_string(voting) + " of " + count_of(nodes.nodes.size(), "node") + (voting == 1 ? " has" : " have") +
               " a vote, and a majority is " + std::to_string(lock.majority) + without_vote;
    }
    if (held) return text;
    if (lock.is_asked_for_here) return text + ": nobody else holds it, and too few of the votes for it count so far" + without_vote;
    if (lock.state == lock_state::unknown) return text + ": who holds it could not be read" + without_vote;
    return text + (lock.state == lock_state::partly ? ": others try to get it as well" : ": it was free a moment ago") + without_vote;
}

std::string reason_of_nodes(client_status const& nodes, bool fencing, std::size_t majority)
{
    if (count_voting(nodes, fencing) >= majority) return {};
    std::string text = "no majority";  // a node's own words count the seconds
    for (node_status const& n : nodes.nodes)
        text += why_no_vote(n, fencing).empty()
                    ? " votes"
                    : std::string{" "} + to_string(n.state) + ' ' + to_string(n.admission) + ' ' + std::to_string(n.last_error.value());
    return text;
}

// Whether it was free a moment ago, or others try to get it as well, changes with each look.
std::string reason_to_wait(lock_view const& lock, client_status const& nodes, bool fencing)
{
    std::string text = lock.state == lock_state::unknown ? "unknown" : "";
    if (is_held_by_another(lock)) text = lock.readers > 0 ? "readers" : lock.nodes[*lock.holder].id();
    return text + reason_of_nodes(nodes, fencing, lock.majority);
}

bool told_reason::is_due(std::string reason, boot_clock::time_point now)
{
    if (reason_ == reason && now < at_ + again) return false;
    reason_ = std::move(reason);
    at_ = now;
    return true;
}

std::string contended_in_words(lock_view const& lock, bool all_the_time)
{
    std::string const by = is_held_by_another(lock) ? holder_of(lock) : "somebody else";
    return name_in_words(lock.name) + " is held by " + by + (all_the_time ? "; it was not free for all the time of --wait" : "");
}

std::string silent_nodes_in_words(attempt_report const& report, client_status const& nodes, bool fencing)
{
    auto const failed = [](node_verdict const& v) { return v.vote == vote::failed; };
    auto const failures = static_cast<std::size_t>(std::count_if(report.nodes.begin(), report.nodes.end(), failed));
    // The failures alone made a majority impossible. Approximate while the set of nodes is changed: the report does not say how many the set needs.
    bool const failures_decided = report.nodes.size() - failures < quorum::majority(report.nodes.size());
    std::string text;
    for (node_verdict const& v : report.nodes) {
        if (v.vote == vote::granted || v.vote == vote::refused) continue;
        auto const is_of_it = [&](node_status const& n) { return n.node == v.node; };
        auto const node = std::find_if(nodes.nodes.begin(), nodes.nodes.end(), is_of_it);
        bool const known = node != nodes.nodes.end();
        bool const is_down = known && node->state == node_state::down;
        if (v.vote == vote::pending && failures_decided && !is_down) continue;  // it had no time to answer
        std::string why = without_vain_countdown(v.detail.empty() && known ? why_no_vote(*node, fencing) : v.detail, nodes);
        if (why.empty() && v.error) why = v.error.message();
        if (v.detail.empty() && known && node->state == node_state::connecting && node->last_error_text.empty())
            why = "no connection after " + in_words(report.elapsed);
        text += line_of(v.node, why.empty() ? "no answer yet" : why);
    }
    return text;
}

}  // namespace redlock::cli
