// Of the rounds: what nodes that have fallen behind, or are not there, are still to get.
#include "core/rounds.hpp"

#include <utility>

namespace redlock::detail {

namespace {

// Releases that are owed to a node that is down: a bound, reached only when a node stays away while locks churn.
constexpr std::size_t owed_max = 65'536;

}  // namespace

void rounds::enqueue(std::size_t node, ticket const& t, time_point now)
{
    link& l = links_[node];
    bool const is_release = t.request.what == verb::release;
    if (l.state == link_state::down) {
        t.asked_by->on_vote(node, failure(errc::node_unreachable), now);
        owe(node, t, now);
    } else if (auto const* const why = excuse_of(l, t.request, now)) {
        t.asked_by->on_vote(node, *why, now);
    } else if (is_release || l.queue.size() < queue_max_) {
        l.queue.push_back(t);
    } else {
        t.asked_by->on_vote(node, failure(errc::node_queue_full), now);
    }
}

// Keeps a release for when the node is back.
void rounds::owe(std::size_t node, ticket const& t, time_point now)
{
    link& l = links_[node];
    if (closed_ || t.request.what != verb::release || l.queue.size() >= owed_max) return;
    if (t.asked_by->wanted(node, now)) l.queue.push_back(t);
}

void rounds::catch_up(std::size_t node)
{
    link& l = links_[node];
    while (l.state == link_state::up && !l.queue.empty() && l.in_flight < in_flight_max) {
        auto const now = now_();
        auto const r = next_for(l, node, now);
        if (!r) {
            if (has_to_wait(l)) return;
            continue;
        }
        exec_alone(r, node, now);
    }
}

// The next message to a node that has fallen behind: what waited too long to be of use is left out. Null: nothing is left.
std::shared_ptr<rounds::round> rounds::next_for(link& l, std::size_t node, time_point now)
{
    pile next;
    while (!l.queue.empty() && !has_to_wait(l) && next.size() < catch_up_max) {
        ticket t = std::move(l.queue.front());
        l.queue.pop_front();
        if (excuse_of(l, t.request, now)) {
            enqueue(node, t, now);  // which says it
        } else if (t.asked_by->wanted(node, now)) {
            next.add(std::move(t));
        } else if (t.request.what == verb::release) {
            t.asked_by->on_vote(node, reply{vote::refused, {}, {}}, now);  // never got there, or has expired
        } else {
            t.asked_by->on_vote(node, failure(errc::node_timeout), now);
        }
    }
    return next.empty() ? nullptr : make_round(next);
}

// Whether the next request in the queue needs to know first whether the node may vote.
bool rounds::has_to_wait(link const& l) noexcept
{
    return !l.queue.empty() && l.may_vote == right_to_vote::undecided && l.queue.front().request.votes_with_tokens();
}

}  // namespace redlock::detail
