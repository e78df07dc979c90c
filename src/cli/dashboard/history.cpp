#include "cli/dashboard/history.hpp"

#include <algorithm>
#include <utility>

namespace redlock::cli {

namespace {

void shorten(std::string& text, std::size_t bytes)
{
    if (text.size() > bytes) text.resize(bytes);
}

template <class Queue>
void keep_last(Queue& all, std::size_t most)
{
    while (all.size() > most) all.pop_front();
}

// Of those that ended, or were last seen, at the same time: the one that came last, so that what is shown stays.
bool is_dropped_before(lane const& a, lane const& b)
{
    auto const to_a = a.spans().back().to, to_b = b.spans().back().to;
    return to_a != to_b ? to_a < to_b : a.spans().front().from > b.spans().front().from;
}

}  // namespace

void lane::add(turn what, moment now)
{
    if (open_) {
        auto& last = spans_.back();
        last.to = now;
        if (last.what.state == what.state && last.what.id == what.id) {
            last.what = std::move(what);
            return;
        }
    }
    spans_.push_back({std::move(what), now, now});
    open_ = true;
}

void lane::close(moment now)
{
    if (std::exchange(open_, false)) spans_.back().to = now;
}

std::size_t lane::forget(moment before, std::size_t most)
{
    while (!spans_.empty() && spans_.front().to < before && !(open_ && spans_.size() == 1)) spans_.pop_front();
    keep_last(spans_, most);
    return spans_.size();
}

history::history(std::size_t nodes, history_limits limits) : limits_{limits}, nodes_(nodes) {}

void history::add_node(std::size_t node, turn what, std::optional<std::chrono::nanoseconds> round_trip, moment now)
{
    auto& of = nodes_[node];
    shorten(what.holder, limits_.text);
    of.states.add(std::move(what), now);
    of.states.forget(now - limits_.window, std::max<std::size_t>(1, limits_.spans / 10));
    if (round_trip) of.round_trips.push_back({now, *round_trip});
    while (!of.round_trips.empty() && of.round_trips.front().at < now - limits_.window) of.round_trips.pop_front();
    keep_last(of.round_trips, limits_.points);
}

void history::add_locks(std::vector<lock_turn> found, bool complete, moment now)
{
    std::sort(found.begin(), found.end(), [](lock_turn const& a, lock_turn const& b) { return a.name < b.name; });
    auto const is_there = [&](std::string const& name) {
        auto const at = std::lower_bound(found.begin(), found.end(), name,
                                         [](lock_turn const& l, std::string const& n) { return l.name < n; });
        return at != found.end() && at->name == name;
    };
    seen_now_ = found.size();
    for (auto& [name, states] : locks_) {
        if (!states.is_open() || is_there(name)) continue;
        if (complete) {
            states.close(now);
        } else {
            states.add({"unknown", {}, {}, {}, {}, false}, now);
            ++seen_now_;
        }
    }
    std::size_t added = 0;
    for (lock_turn& each : found) {
        if (!locks_.contains(each.name) && added++ >= limits_.lanes) continue;  // it would be dropped again
        shorten(each.what.holder, limits_.text);
        shorten(each.what.label, limits_.text);
        locks_[std::move(each.name)].add(std::move(each.what), now);
    }
    forget(now);
}

void history::add_event(past_event what)
{
    shorten(what.text, limits_.text);
    events_.push_back(std::move(what));
    keep_last(events_, limits_.events);
}

void history::forget(moment now)
{
    std::size_t spans = 0;
    for (auto at = locks_.begin(); at != locks_.end();) {
        auto const left = at->second.forget(now - limits_.window, limits_.spans);
        spans += left;
        at = left == 0 ? locks_.erase(at) : std::next(at);
    }
    while (locks_.size() > limits_.lanes) {
        auto const first = std::min_element(locks_.begin(), locks_.end(),
                                            [](auto const& a, auto const& b) { return is_dropped_before(a.second, b.second); });
        spans -= first->second.spans().size();
        locks_.erase(first);
    }
    while (spans > limits_.spans) {
        auto const oldest = std::min_element(locks_.begin(), locks_.end(), [](auto const& a, auto const& b) {
            return a.second.spans().front().from < b.second.spans().front().from;
        });
        if (oldest->second.spans().size() == 1) locks_.erase(oldest);
        else oldest->second.forget_first();
        --spans;
    }
}

}  // namespace redlock::cli
