#include "quorum/waiting/contention.hpp"

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

void contention::set_electorate(electorate const& of) noexcept
{
    if (of == voters_) return;
    voters_ = of;
    if (wait_) wait_->schedule.needs(of.needed);
}

contention::wait& contention::this_wait()
{
    if (!wait_) wait_ = std::make_unique<wait>(voters_, ++waits_);
    return *wait_;
}

wait_decision contention::next(time_point now, duration ttl) const noexcept
{
    auto at = fairness_.out_until();
    if (wait_) at = std::max({at, wait_->schedule.due(), wait_->short_of_votes_until});
    if (at > now) return {wait_move::wait, at};
    if (!wait_) return {wait_move::attempt, now};
    switch (wait_->schedule.step(now)) {
    case next_step::probe: return {wait_move::poll, now};
    case next_step::race:
        if (wait_->short_of_votes_until != time_point{}) break;  // nobody has won, so there is no race, and delays go on growing
        return {looks_like_an_extension(*wait_, now, ttl) ? wait_move::probe : wait_move::race, now};
    case next_step::attempt: break;
    }
    return {wait_move::attempt, now};
}

// A holder extends its lease whenever the same time is left. So a change at that time is probably an extension, and a probe costs the nodes half as
// much as an attempt. If the change was a release, the probe costs this client one round trip. If less than a quarter of the ttl is left, the change
// is more probably an expiry.
bool contention::looks_like_an_extension(wait const& current, time_point now, duration ttl) const noexcept
{
    auto const left = current.expires - now;
    return current.left_when_extended && left > ttl / 4 && std::chrono::abs(left - *current.left_when_extended) <= left / 50;
}

bool contention::attempting(wait_move how, time_point now) noexcept
{
    if (!wait_) return false;
    wait_->racing = how == wait_move::race;
    if (wait_->racing) wait_->left_at_race = wait_->expires - now;
    if (wait_->probed) wait_->schedule.attempting();
    return wait_->probed;
}

void contention::probing(wait_move why, time_point now, duration if_told, duration if_not) noexcept
{
    wait& current = this_wait();
    if (why == wait_move::probe) {
        current.racing = false;
        current.schedule.attempting();  // a key has changed, so all that was known about the keys is out of date
    }
    current.schedule.probing(now + if_told, now + if_not);
}

contention::probe_stamp contention::probed()
{
    wait& current = this_wait();
    current.answering = current.silent = {};
    return {current.number, current.freed};
}

duration contention::head_start(wait_odds const& odds, time_point now) const noexcept
{
    switch (odds.sides) {
    case wait_odds::of_lock::exclusive:
    case wait_odds::of_lock::counted: break;
    case wait_odds::of_lock::readers: return {};
    case wait_odds::of_lock::writers: return fairness_.head_start_of_readers_and_writers(now, odds.slot, odds.head_start);
    }
    return fairness_.head_start_of_others(odds.slot, odds.head_start);
}

bool contention::failed(lost_attempt const& what, time_point now, wait_odds const& odds, duration poll_interval, bool may_probe)
{
    outlook_ = what.outlook;
    wait& current = this_wait();
    bool const is_new_holder = what.counter == 0 || what.counter > seen_;
    seen_ = std::max(seen_, what.counter);
    if (what.refused) fairness_.refused(now);
    if (std::exchange(current.racing, false)) {
        if (is_new_holder) fairness_.lost_a_race();
        if (!is_new_holder && odds.sides == wait_odds::of_lock::exclusive) current.left_when_extended = current.left_at_race;
    }

    current.short_of_votes_until = what.outlook == lock_outlook::no_majority ? now + odds.delay : time_point{};
    current.schedule.probing(now + poll_interval, now + odds.delay);
    current.schedule.failed(now, now + odds.delay, head_start(odds, now));
    for (std::size_t node = 0; node < voters_.nodes; ++node)
        if (what.granted.has(node)) current.schedule.on_changed(node, now);  // the grant is rolled back, and the node does not tell of that
    bool const first_probe = may_probe && !std::exchange(current.probed, true);
    auto const time = odds.is_shared() ? duration::zero() : fairness_.back_off(odds.slot, odds.crowded, odds.back_off);
    if (time > duration::zero()) {
        current.schedule.sleep(now + std::min(time, poll_interval));
        current.backed_off = true;
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
    wait& current = *wait_;
    if (!current.schedule.is_asleep() && std::exchange(current.backed_off, false) && !answer.ends) fairness_.backed_off_too_long();
    bool const outdated = asked.freed_[node] != current.freed[node];  // this client has freed the key since the probe was sent
    if (answer.failed) {
        current.schedule.on_silence(node);
    } else if (our_own) {
        current.schedule.on_changed(node, now);  // if the attempt is not won, this client rolls it back, so the key counts as free
    } else if (!outdated) {
        std::optional<time_point> free_at = answer.ends;
        if (free_at && *free_at != time_point::max()) {
            current.expires = *free_at;
            *free_at += expiry_granularity;
        }
        current.schedule.on_probe(node, now, free_at, answer.watching);
        if (!answer.ends && current.schedule.is_free(now))
            current.expires = now;  // the change was no extension, so no other probe is needed
    }
    return learn(current, node, !answer.failed, now);
}

// A majority of answers is enough to know whether another client has the lock.
contention::learned contention::learn(wait& current, std::size_t node, bool answered, time_point now) noexcept
{
    (answered ? current.answering : current.silent).add(node);
    (answered ? current.silent : current.answering).remove(node);
    if (current.answering.size() >= voters_.needed && !current.schedule.is_free(now)) {
        outlook_ = lock_outlook::held;
        return learned::held;
    }
    if (voters_.nodes < current.silent.size() + voters_.needed) {
        outlook_ = lock_outlook::no_majority;
        return learned::no_majority;
    }
    return learned::nothing;
}

bool contention::has_news_beside(time_point acquired, duration slot) const noexcept
{
    fairness without_contention;
    without_contention.won(acquired, slot);
    return seen_ != 0 || fairness_ != without_contention;
}

}  // namespace redlock::quorum
