#include "quorum/contention.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace redlock::quorum {

void contention::begin(bool here) noexcept
{
    if (!here) outlook_ = lock_outlook::unknown;
    wait_.reset();
}

void contention::won(time_point now, duration slot) noexcept
{
    fairness_.won(now, slot);
    outlook_ = lock_outlook::held;
    wait_.reset();
}

contention::wait& contention::this_wait()
{
    if (!wait_) wait_ = std::make_unique<wait>(nodes_, ++waits_);
    return *wait_;
}

wait_decision contention::next(time_point now, duration ttl) const noexcept
{
    auto const at = wait_ ? std::max(wait_->schedule.due(), fairness_.out_until()) : fairness_.out_until();
    if (at > now) return {wait_move::wait, at};
    if (!wait_) return {wait_move::attempt, now};
    switch (wait_->schedule.step(now)) {
    case next_step::probe: return {wait_move::poll, now};
    case next_step::race: return {looks_like_an_extension(*wait_, now, ttl) ? wait_move::probe : wait_move::race, now};
    case next_step::attempt: break;
    }
    return {wait_move::attempt, now};
}

// A holder extends each time when as much is left. To look costs the nodes half as much as an attempt, and one round trip if it was a
// release after all. With less than a quarter left, it is rather an expiry.
bool contention::looks_like_an_extension(wait const& in, time_point now, duration ttl) const noexcept
{
    auto const left = in.expires - now;
    return in.left_when_extended && left > ttl / 4 && std::chrono::abs(left - *in.left_when_extended) <= left / 50;
}

bool contention::attempting(wait_move how, time_point now) noexcept
{
    if (!wait_) return false;
    wait_->racing = how == wait_move::race;
    if (wait_->racing) wait_->left = wait_->expires - now;
    if (wait_->probed) wait_->schedule.attempting();
    return wait_->probed;
}

void contention::probing(wait_move why, time_point now, duration if_told, duration if_not) noexcept
{
    wait& in = this_wait();
    if (why == wait_move::probe) {
        in.racing = false;
        in.schedule.attempting();  // what changed is not known yet
    }
    in.schedule.probing(now + if_told, now + if_not);
}

contention::probe_stamp contention::probed()
{
    wait& in = this_wait();
    in.answering = in.silent = {};
    return {in.number, in.freed};
}

bool contention::failed(lost_attempt const& what, time_point now, wait_odds const& odds, duration poll_interval, bool may_probe)
{
    outlook_ = what.outlook;
    wait& in = this_wait();
    bool const somebody_new = what.counter == 0 || what.counter > seen_;
    seen_ = std::max(seen_, what.counter);
    if (what.refused) fairness_.refused(now);
    if (std::exchange(in.racing, false)) {
        if (somebody_new) fairness_.lost_a_race();
        if (!somebody_new) in.left_when_extended = in.left;
    }

    in.schedule.probing(now + poll_interval, now + odds.delay);
    in.schedule.failed(now, now + odds.delay, fairness_.head_start_of_others(odds.slot, odds.head_start));
    for (std::size_t node = 0; node < nodes_; ++node)
        if (what.granted.has(node)) in.schedule.on_changed(node, now);  // which is undone, and nobody tells us of that
    bool const first_probe = may_probe && !std::exchange(in.probed, true);
    if (auto const nap = fairness_.back_off(odds.slot, odds.crowded, odds.back_off); nap > duration::zero()) {
        in.schedule.sleep(now + std::min(nap, poll_interval));
        in.backed_off = true;
    }
    return first_probe;
}

void contention::changed(std::size_t node, time_point now) { this_wait().schedule.on_changed(node, now); }

void contention::freed_by_us(std::size_t node, time_point now)
{
    ++this_wait().freed[node];
    this_wait().schedule.on_changed(node, now);
}

void contention::silent(std::size_t node) { this_wait().schedule.on_silence(node); }

contention::learned contention::answered(probe_stamp const& asked, std::size_t node, probe_answer const& answer, bool our_own,
                                         time_point now) noexcept
{
    if (!wait_ || asked.wait_ != wait_->number) return learned::outdated;
    wait& in = *wait_;
    if (!in.schedule.is_asleep() && std::exchange(in.backed_off, false) && !answer.ends) fairness_.backed_off_too_long();
    bool const outdated = asked.freed_[node] != in.freed[node];  // we have freed the key since, of which the node does not tell us
    if (answer.failed) {
        in.schedule.on_silence(node);
    } else if (our_own) {
        in.schedule.on_changed(node, now);  // if the attempt is not won it is undone, as if the key were free
    } else if (!outdated) {
        std::optional<time_point> free_at = answer.ends;
        if (free_at && *free_at != time_point::max()) {
            in.expires = *free_at;
            *free_at += expiry_granularity;
        }
        in.schedule.on_probe(node, now, free_at, answer.watching);
        if (!answer.ends && in.schedule.is_free(now)) in.expires = now;  // what changed was no extension: no need to probe again
    }
    return learn(in, node, !answer.failed, now);
}

// Whether somebody has the lock is known while a majority answers.
contention::learned contention::learn(wait& in, std::size_t node, bool answered, time_point now) noexcept
{
    (answered ? in.answering : in.silent).add(node);
    (answered ? in.silent : in.answering).remove(node);
    if (in.answering.size() >= majority(nodes_) && !in.schedule.is_free(now)) {
        outlook_ = lock_outlook::held;
        return learned::held;
    }
    if (nodes_ - in.silent.size() < majority(nodes_)) {
        outlook_ = lock_outlook::no_majority;
        return learned::no_majority;
    }
    return learned::nothing;
}

bool contention::has_news_beside(time_point acquired, duration slot) const noexcept
{
    fairness of_nobody_else;
    of_nobody_else.won(acquired, slot);
    return seen_ != 0 || fairness_ != of_nobody_else;
}

}  // namespace redlock::quorum
