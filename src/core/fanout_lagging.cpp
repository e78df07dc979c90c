// Of the rounds: what nodes that have fallen behind, or are not there, are still to get.
#include "core/fanout.hpp"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <deque>
#include <limits>
#include <utility>
#include <vector>

namespace redlock::detail {

namespace {

// Releases that are deferred to a node that is down: a bound, reached only when a node stays away while locks churn.
constexpr std::size_t max_owed = 65'536;

// A shorter queue is not looked through.
constexpr std::size_t min_weeded = 64;

// Before a release that was answered with an error is sent again: at first a sixteenth of the ttl, within these; then twice as long each
// time.
constexpr duration min_first_pause = std::chrono::milliseconds{1};
constexpr duration max_first_pause = std::chrono::milliseconds{100};
constexpr duration max_pause = std::chrono::seconds{5};

duration pause_after(std::uint8_t errors, duration ttl) noexcept
{
    auto const doubled = std::clamp<duration>(ttl / 16, min_first_pause, max_first_pause) * (1u << std::min<unsigned>(errors, 16));
    return std::min<duration>(doubled, max_pause);
}

}  // namespace

// A request that has waited, or would have to, and is of no use any more. A release: the key never got there, or has expired.
void fanout::withdraw(std::size_t node, pending_request const& t, time_point now)
{
    bool const is_release = t.request.what == verb::release;
    t.asked_by->on_vote(node, is_release ? reply{vote::refused, {}, {}} : failure(errc::node_timeout), now);
}

// Takes out of what waits what is of no use any more: what is first at once, and the rest whenever twice as much waits as was left the last time.
// While a node hangs, or nobody has called run() yet, attempts come and go, and must not gather.
std::vector<pending_request> fanout::weed(std::size_t node, time_point now)
{
    link& l = links_[node];
    auto const is_of_use = [&](pending_request const& t) { return t.asked_by->wanted(node, now); };
    std::vector<pending_request> gone;
    auto const give_up = [&](pending_request& t) {
        if (t.request.what == verb::extend) --l.extensions_in_queue;
        gone.push_back(std::move(t));
    };
    for (; !l.queue.empty() && !is_of_use(l.queue.front()); l.queue.pop_front()) give_up(l.queue.front());
    for (auto first = l.extensions.begin(); first != l.extensions.end() && !is_of_use(first->second); first = l.extensions.erase(first))
        gone.push_back(std::move(first->second));
    auto const all = l.queue.size() + l.extensions.size();
    if (all > 0 && all < l.weed_at) return gone;
    std::deque<pending_request> kept;
    for (pending_request& t : l.queue) is_of_use(t) ? kept.push_back(std::move(t)) : give_up(t);
    l.queue = std::move(kept);
    for (auto it = l.extensions.begin(); it != l.extensions.end();) {
        bool const stays = is_of_use(it->second);
        if (!stays) gone.push_back(std::move(it->second));
        it = stays ? std::next(it) : l.extensions.erase(it);
    }
    l.weed_at = std::max(min_weeded, 2 * (l.queue.size() + l.extensions.size()));
    return gone;
}

// Lets extensions into the queue, as many as may be under way. The lease that ends first goes first, of those that can expect an answer before they end. If
// none can, the last one shows whether answers take as long as before.
void fanout::take_turns(std::size_t node, time_point now)
{
    link& l = links_[node];
    auto const sent = [&l] { return l.extensions_in_queue + l.extensions_under_way; };
    for (auto next = l.extensions.begin(); next != l.extensions.end() && sent() < l.pace.window();) {
        vote_handler const& who = *next->second.asked_by;
        auto const ends = who.ends();
        bool const is_wanted = who.wanted(node, now);
        bool const has_moved = ends > next->first;  // other nodes have renewed the lease meanwhile
        bool const is_last = std::next(next) == l.extensions.end() && sent() == 0;
        if (is_wanted && !has_moved && !is_last && ends <= now + l.pace.took()) {
            ++next;
            continue;
        }
        auto taken = l.extensions.extract(next++);
        if (!is_wanted) {
            withdraw(node, taken.mapped(), now);
            if (links_.empty()) return;
        } else if (has_moved) {
            taken.key() = ends;
            auto const moved = l.extensions.insert(std::move(taken));
            if (next == l.extensions.end() || ends < next->first) next = moved;
        } else {
            pending_request& t = taken.mapped();
            t.asked_by->renew(t.request);
            ++l.extensions_in_queue;
            l.queue.push_back(std::move(t));
        }
    }
}

void fanout::down(std::size_t node, error_code why, std::string const& text)
{
    link& l = links_[node];
    bool const left = static_cast<bool>(std::exchange(l.rejected_with, {}));
    if (left) l.may_have_keys = false;
    else l.lost = failure_to_connect(why == condition::node_failure ? static_cast<errc>(why.value()) : errc::node_unreachable, text);
    l.state = link_state::down;
    put_in_queue_again(node);
}

// What waits gets the vote of a node that is lost, or waits on, as the state of the node is another one now.
void fanout::put_in_queue_again(std::size_t node)
{
    link& l = links_[node];
    auto const now = now_();
    auto waiting = std::exchange(l.queue, {});
    for (auto& [ends, t] : std::exchange(l.extensions, {})) waiting.push_back(std::move(t));
    l.extensions_in_queue = 0;
    for (pending_request& t : waiting) enqueue(node, t, now);
}

bool fanout::may_have_keys(std::size_t node) const noexcept
{
    link const& l = links_[node];
    return l.may_have_keys || (l.state == link_state::down && !l.queue.empty());
}

void fanout::reject(std::size_t node, error_code why, std::string words) { links_[node].peer->reject(why, std::move(words)); }

void fanout::reject_later(std::size_t node, error_code why, std::string const& words)
{
    link& l = links_[node];
    l.lost = failure_to_connect(static_cast<errc>(why.value()), words);
    l.state = link_state::leaving;
    l.rejected_with = why;
    l.leaves_at = now_() + max_parting;
    if (on_parting) on_parting(l.leaves_at);
    put_in_queue_again(node);
    catch_up(node);
}

void fanout::end_partings(time_point now)
{
    auto next = time_point::max();
    for (std::size_t node = 0; node < links_.size(); ++node) {
        link const& l = links_[node];
        if (l.state != link_state::leaving) continue;
        if (l.leaves_at <= now) reject(node, l.rejected_with, l.lost.words());
        else next = std::min(next, l.leaves_at);
    }
    if (next < time_point::max() && on_parting) on_parting(next);
}

void fanout::enqueue(std::size_t node, pending_request const& t, time_point now)
{
    link& l = links_[node];
    bool const is_release = t.request.what == verb::release;
    if (is_release && !t.asked_by->wanted(node, now)) return withdraw(node, t, now);
    if (l.state == link_state::down || (l.state == link_state::leaving && !is_release)) {
        t.asked_by->on_vote(node, l.lost, now);
        return defer_release(node, t, now);
    }
    if (auto const* const why = cached_rejection_of(l, t.request, now)) return t.asked_by->on_vote(node, *why, now);
    auto const gone = weed(node, now);
    if (t.request.what == verb::extend) l.extensions.emplace(t.asked_by->ends(), t);
    else if (is_release || l.queue.size() < max_queue_) l.queue.push_back(t);
    else t.asked_by->on_vote(node, failure(errc::node_queue_full), now);
    for (pending_request const& each : gone) withdraw(node, each, now);
}

// Keeps a release for when the node is back.
void fanout::defer_release(std::size_t node, pending_request const& t, time_point now)
{
    link& l = links_[node];
    if (closed_ || t.request.what != verb::release) return;
    auto const gone = weed(node, now);
    bool const has_room = l.queue.size() < max_owed;
    if (has_room && t.asked_by->wanted(node, now)) l.queue.push_back(t);
    for (pending_request const& each : gone) withdraw(node, each, now);
}

// Keeps a release that a node has answered with an error: what it said of a moment may not be so for ever.
void fanout::retry_release(std::size_t node, pending_request&& t, time_point now)
{
    if (closed_ || t.request.what != verb::release || release_retries_.size() >= max_owed || !t.asked_by->wanted(node, now)) return;
    auto const at = now + pause_after(t.errors, t.request.ttl);
    if (t.errors < std::numeric_limits<std::uint8_t>::max()) ++t.errors;
    auto const added = release_retries_.emplace(at, release_retry{node, std::move(t)});
    if (added == release_retries_.begin() && on_release_retry) on_release_retry(at);
}

// Those whose time comes a little later go along: many that failed one after the other share a message.
void fanout::retry_releases(time_point now)
{
    std::vector<bool> has_some(links_.size());
    while (!release_retries_.empty() && release_retries_.begin()->first <= now + min_first_pause) {
        auto const due = release_retries_.extract(release_retries_.begin());
        auto& [node, release] = due.mapped();
        defer_release(node, release, now);
        has_some[node] = true;
    }
    for (std::size_t node = 0; node < links_.size(); ++node)
        if (has_some[node]) catch_up(node);
    if (!release_retries_.empty() && on_release_retry) on_release_retry(release_retries_.begin()->first);
}

void fanout::catch_up(std::size_t node)
{
    link& l = links_[node];
    while (takes_releases(l) && l.in_flight < max_in_flight) {
        auto const now = now_();
        take_turns(node, now);
        if (links_.empty() || l.queue.empty()) return;
        auto const r = next_for(l, node, now);
        if (!r) {
            if (has_to_wait(l)) return;
            continue;
        }
        exec_alone(r, node, now);
    }
}

// The next message to a node that has fallen behind: what waited too long to be of use is left out. Null: nothing is left.
std::shared_ptr<fanout::round> fanout::next_for(link& l, std::size_t node, time_point now)
{
    request_batch next;
    while (!l.queue.empty() && !has_to_wait(l) && next.size() < max_catch_up) {
        pending_request t = std::move(l.queue.front());
        l.queue.pop_front();
        if (t.request.what == verb::extend) --l.extensions_in_queue;
        if (cached_rejection_of(l, t.request, now)) {
            enqueue(node, t, now);  // which says it
        } else if (t.asked_by->wanted(node, now)) {
            next.add(std::move(t));
        } else {
            withdraw(node, t, now);
        }
    }
    return next.empty() ? nullptr : make_round(next);
}

// Whether the next request in the queue needs to know first whether the node may vote.
bool fanout::has_to_wait(link const& l) noexcept
{
    return !l.queue.empty() && l.may_vote == right_to_vote::undecided && l.queue.front().request.votes_with_tokens();
}

}  // namespace redlock::detail
