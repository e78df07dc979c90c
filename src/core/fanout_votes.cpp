// Of the rounds: which votes count. A node must have been admitted, its clock must not have been set, and the set of nodes must be the same still.
#include "core/fanout.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace redlock::detail {

void fanout::admit(std::size_t node, std::string const& id)
{
    link& l = links_[node];
    if (l.may_vote == right_to_vote::yes && l.as->id == id) return;
    l.may_vote = right_to_vote::yes;
    l.as = std::make_shared<identity>(identity{id, ++admissions_});
    catch_up(node);
}

void fanout::exclude(std::size_t node, std::function<std::string(time_point)> why)
{
    link& l = links_[node];
    l.may_vote = right_to_vote::no;
    l.as.reset();
    l.why_not = std::move(why);
    l.not_admitted.good_until = {};
    catch_up(node);
}

void fanout::decide_later(std::size_t node)
{
    links_[node].may_vote = right_to_vote::undecided;
    links_[node].as.reset();
}

std::size_t fanout::voters() const noexcept
{
    return static_cast<std::size_t>(std::count_if(links_.begin(), links_.end(), [](link const& l) {
        return l.state == link_state::up && l.may_vote == right_to_vote::yes;
    }));
}

// Why a node is not asked for this vote. The sentence says how long it takes; under load it is not made anew each time.
reply const* fanout::cached_rejection_of(link& l, command const& c, time_point now)
{
    static constexpr duration good_for = std::chrono::milliseconds{10};
    auto const say = [now](cached_rejection& e, errc why, auto const& sentence) {
        if (now >= e.good_until) e = cached_rejection{reply{vote::failed, why, sentence(now)}, now + good_for};
        return &e.said;
    };
    if (c.votes_with_tokens() && l.may_vote == right_to_vote::no) return say(l.not_admitted, errc::node_not_admitted, l.why_not);
    if (c.may_grant() && l.clock.is_suspended(now))
        return say(l.suspended, errc::node_clock_stepped, [&l](time_point t) { return l.clock.text(t); });
    return nullptr;
}

reply const* fanout::why_not_asked(std::size_t node, bool fenced, time_point now)
{
    link& l = links_[node];
    if (l.state == link_state::down || l.state == link_state::leaving) return &l.lost;
    command c{verb::acquire, {}, {}, {}};
    c.fenced = fenced;
    return cached_rejection_of(l, c, now);
}

void fanout::on_time(std::size_t node, quorum::wall_time clock, time_point sent, time_point received)
{
    link& l = links_[node];
    auto const step = l.clock.on_time(clock, sent, received, suspension_);
    if (!step) return;
    l.suspended.good_until = {};
    last_clock_step_ = std::max(last_clock_step_, received);
    if (on_step) on_step(node, *step, received);
}

void fanout::suspend_for(duration longest_ttl) noexcept
{
    rules_.lasts = longest_ttl;
    suspension_ = longest_ttl + std::chrono::duration_cast<duration>(longest_ttl * rules_.clock_drift);
}

void fanout::tolerate(double clock_drift) noexcept
{
    rules_.clock_drift = clock_drift;
    for (link& l : links_) l.clock.tolerate(clock_drift);
    suspend_for(rules_.lasts);
}

// What a node grants while its clock is not to be trusted does not count. Of extensions these are the messages on their way: what is
// extended after a step is good again.
void fanout::check_clock(round& r, std::size_t node, time_point now)
{
    part& p = r.parts[node];
    node_clock const& clock = links_[node].clock;
    if (p.replies.empty()) return;
    if (auto const shown = p.replies.back().server_time; shown > quorum::wall_time{}) on_time(node, shown, p.sent, now);
    bool const set_since = clock.was_set_since(p.sent);
    if (!set_since && !clock.is_suspended(now)) return;
    for (std::size_t i = 0; i < r.targets.size(); ++i) {
        command const& c = r.work.commands[i];
        bool const counts = c.may_grant() || (c.may_renew() && set_since);
        if (counts && p.replies[i].vote == vote::granted) p.replies[i] = reply{vote::failed, errc::node_clock_stepped, clock.text(now)};
    }
}

// Votes of different generations of a set must not be added up: their majorities may have no node in common.
void fanout::drop_votes_of_earlier_eras(round& r, std::size_t node) const
{
    part& p = r.parts[node];
    for (std::size_t i = 0; i < r.targets.size(); ++i) {
        if (r.targets[i].era == era_) continue;
        if (!r.work.commands[i].counts_in_era() || p.replies[i].vote != vote::granted) continue;
        p.replies[i] = reply{vote::failed, errc::node_not_admitted, "the set of nodes was changed meanwhile"};
    }
}

}  // namespace redlock::detail
