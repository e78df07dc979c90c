#include "core/lease/lease_registry.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::detail {

using quorum::lease_duty;

namespace {

bool is_on(lease_record const& what, std::string_view name) noexcept
{
    auto const others = what.what->others();
    return what.what->first() == name || std::find(others.begin(), others.end(), name) != others.end();
}

}  // namespace

bool lease_registry::adopt(std::shared_ptr<lease_record> const& what, quorum::tenure const& holders, time_point sent, time_point now)
{
    assert(what->registry() == nullptr && !what->release_started);
    what->machine = quorum::lease_machine{holders, sent, now, what->what->under->times};
    for (std::size_t node = 0; env_.to_nodes->was_any_clock_set_since(sent) && node < env_.to_nodes->nodes(); ++node)
        what->machine.on_step(node, env_.to_nodes->clock_of(node).set_forward_since(sent),
                              now);  // its vote came before that was seen
    follow_set(*what);
    if (now >= what->machine.stops_at()) {
        what->machine = {};
        return false;
    }
    what->publish(now);
    what->phase = lease_record::state::held;
    what->enter(*this, static_cast<std::uint32_t>(held_.size()));
    held_.push_back(what);
    ++env_.count.leases;
    env_.changed_by_us(what->what->first());
    recreate_if_needed(*what, now);
    set_timer(*what);
    executor_watch_.watch_for(what->what->under->times.ttl, now);
    return true;
}

void lease_registry::late_grant(lease_record& what, std::size_t node, time_point until, time_point now)
{
    what.machine.on_late_grant(node, until);
    if (what.is_lease()) what.publish(now);  // one that was lost stays where it ended
}

void lease_registry::late_refusal(lease_record& what, std::size_t node, time_point now)
{
    auto without = what.machine.holders();
    without.gone(node);
    // A bare majority is not given up in the moment in which its holder is told of the lease: an extension follows soon, and asks this node again.
    if (without.valid_until() != time_point{}) what.machine.on_late_refusal(node);
    if (!what.is_lease() || !what.registry()) return;
    what.publish(now);
    recreate_if_needed(what, now);
    set_timer(what);
}

// A lease on a bare majority survives no further fault. Without tokens a key must not be set again: nothing would tell a late request
// from one whose lease is over.
void lease_registry::recreate_if_needed(lease_record& what, time_point now)
{
    if (what.is_fenced() && what.machine.held_on(now) < env_.to_nodes->voters()) what.machine.want_recreate(now);
}

void lease_registry::set_timer(lease_record& what) { env_.set_timer(what, what.machine.due()); }

// Why a lease ends whose time has come. After a pause of the process, an operation may find that before the timer does.
errc lease_registry::end_of(lease_record const& what, time_point now)
{
    return what.machine.duty(now) == lease_duty::stop_max_hold ? errc::max_hold_exceeded : errc::lease_lost;
}

// A node that has lost the key may have taken the majority from a lease at once: no watchdog can be in time for that.
void lease_registry::note_if_late(lease_record& what, time_point now) const
{
    auto const until = what.machine.valid_until();
    if (until == time_point{} || now < until) return;
    ++env_.count.watchdog_late;
    if (env_.observed) env_.observed->watchdog_late(what.told(now));
}

void lease_registry::on_timer(lease_record& what, time_point now)
{
    if (!what.is_lease()) return;
    switch (what.duty_soon(now)) {
    case lease_duty::stop: note_if_late(what, now); [[fallthrough]];
    case lease_duty::stop_max_hold: return lose(what, end_of(what, now));
    case lease_duty::extend: extend_where_possible(what, now); break;
    case lease_duty::recreate:
        if (what.machine.held_on(now) >= env_.to_nodes->voters()) {
            what.machine.forget_recreate();  // late answers have done it
        } else {
            extend_where_possible(what, now);
        }
        break;
    case lease_duty::none: break;
    }
    set_timer(what);
}

// A node that has an extension of this lease to answer would answer another one later still, and others later because of it.
void lease_registry::extend_where_possible(lease_record& what, time_point now)
{
    auto const busy = what.extended_on;
    if (busy.size() == env_.to_nodes->nodes()) return what.machine.wait_for_answers(now);
    start_extension(what.shared(), now, nullptr, false, busy);
}

// Whether it is held now; if not, `who` is told why.
bool lease_registry::is_held(lease_handle const& by, waiter& who, time_point now)
{
    lease_record& what = by.of();
    lose_if_over(what, now);
    switch (by.phase.load()) {
    case lease_phase::held: return true;
    case lease_phase::lost: who.fail(by.lost_because.load(), by.loss_reason()); break;
    case lease_phase::released: who.done(errc::not_held); break;
    }
    return false;
}

void lease_registry::extend(lease_handle const& by, std::shared_ptr<waiter> who)
{
    auto const now = env_.now();
    if (!is_held(by, *who, now)) return;
    start_extension(by.of().shared(), now, std::move(who));
    set_timer(by.of());
}

// From before the first byte of it, the holder counts as a reader, also on nodes that still have it as a writer.
bool lease_registry::downgrade(lease_handle const& by, std::shared_ptr<waiter> who)
{
    lease_record& what = by.of();
    auto const now = env_.now();
    if (!is_held(by, *who, now)) return false;
    if (what.reads()) {
        who->done(error_code{});
        return false;
    }
    std::size_t handles = 0;
    what.each_handle([&](lease_handle&) { ++handles; });
    // Of a lease that has climbed, nodes may have counters above its guard; that this is safe for readers is argued nowhere.
    if (!what.what->leaves_a_wish() || handles > 1 || what.has_tried_to_climb()) {
        who->done(asio::error::operation_not_supported);
        return false;
    }
    what.first.becomes_reader();
    what.each_handle([](lease_handle& h) { h.becomes_reader(); });
    start_extension(what.shared(), now, std::move(who));
    set_timer(what);
    return true;
}

void lease_registry::start_extension(std::shared_ptr<lease_record> const& what, time_point now, std::shared_ptr<waiter> who,
                                     bool after_climb, quorum::node_set const& not_at)
{
    auto const e = make_recycled<extension>(*this, what, now, after_climb);
    if (who) {
        e->wait(std::move(who));
        what->asked_for(e);
    }
    what->machine.on_extension_sent(now);
    what->may_live_until(now + 2 * what->what->under->times.key_ttl);  // it may wait in a node's queue for as long as it is valid
    what->asked_in = env_.to_nodes->next_round();
    what->extended_on = quorum::node_set::all(env_.to_nodes->nodes());
    e->does_not_ask(not_at);
    extension::ask(e, e->request(), e->times_out(), not_at);
}

void lease_registry::abandon_extend(lease_record const& what, waiter const* who)
{
    for (auto const& weak : what.extensions_asked_for())
        if (auto const e = weak.lock(); e && e->abandon(who)) return;
}

void lease_registry::extend_all_on(std::string_view name, time_point now)
{
    for (auto const& h : held_) {
        if (!h->is_lease() || !is_on(*h, name)) continue;
        start_extension(h, now, nullptr);
        set_timer(*h);
    }
}

quorum::token_number lease_registry::token_on(std::string_view name) const noexcept
{
    quorum::token_number last = 0;
    for (auto const& h : held_)
        if (is_on(*h, name))
            h->each_handle([&](lease_handle const& each) { last = std::max<quorum::token_number>(last, each.token.load()); });
    return last;
}

void lease_registry::wait_lost(lease_handle& who, std::shared_ptr<waiter> what)
{
    switch (who.phase.load()) {
    case lease_phase::lost: return what->fail(who.lost_because.load(), who.loss_reason());
    case lease_phase::released: return what->done(asio::error::operation_aborted);
    case lease_phase::held: who.waiters().push_back(std::move(what));
    }
}

void lease_registry::abandon_wait(lease_handle& who, waiter const* what) { who.waiters().complete(what, asio::error::operation_aborted); }

void lease_registry::lose(lease_record& what, errc why)
{
    if (!what.is_lease()) return;
    what.phase = lease_record::state::lost;
    what.first.lost_because.store(why, std::memory_order_relaxed);  // what all ask that come later
    env_.cancel_timer(what);
    auto const now = env_.now();
    auto const reason = losses_.reason_of(what, why, now);
    bool held = false;
    what.first.set_loss_reason(reason);  // as above
    what.each_handle([&](lease_handle& h) {
        h.lost_because.store(why, std::memory_order_relaxed);
        h.set_loss_reason(reason);
        auto expected = lease_phase::held;
        if (!h.phase.compare_exchange_strong(expected, lease_phase::lost, std::memory_order_acq_rel)) return;
        held = true;
        h.complete_waiters(why);
    });
    if (held) ++env_.count.leases_lost;  // and not released a moment ago, in another thread
    if (held) losses_.tell(what, why, reason, now);
    if (held && env_.observed) env_.observed->lost(what.told(now), why);
    if (on_lost) on_lost(what);
}

void lease_registry::lose_if_over(lease_record& what, time_point now)
{
    if (what.is_lease() && now >= what.machine.stops_at()) lose(what, end_of(what, now));
}

void lease_registry::lose_all(errc why)
{
    for (auto const& h : held_) lose(*h, why);
}

void lease_registry::on_step(std::size_t node, duration by, time_point now)
{
    if (by <= duration::zero()) return;
    for (auto const& h : held_) {
        if (!h->is_lease()) continue;
        h->machine.on_step(node, by, now);
        h->publish(now);
        set_timer(*h);
    }
}

void lease_registry::follow_set(lease_record& what) const
{
    what.machine.set_members(env_.members);
    what.machine.set_electorate(env_.voters);
}

// Members that joined do not have the key yet, so it is extended at once.
void lease_registry::on_generation(time_point now)
{
    for (auto const& h : held_) {
        if (!h->is_lease()) continue;
        follow_set(*h);
        h->resize(env_.set_size);
        h->extended_on = {};  // votes of before do not count
        h->machine.extend_soon(now);
        h->publish(now);
        set_timer(*h);
    }
}

// A new holder has the whole of max_hold, and what is left of the validity: if that is not much, more is asked for at once.
void lease_registry::hand_over(lease_record& what, time_point now)
{
    what.machine.handed_over(now);
    if (what.machine.left(now) < (what.what->under->times.validity - what.what->under->times.stop_margin) * 5 / 8)
        start_extension(what.shared(), now, nullptr);
    set_timer(what);
}

void lease_registry::leave(lease_handle& who)
{
    who.complete_waiters(asio::error::operation_aborted);
    who.is = lease_handle::presence::left;
    who.of().remove(who);
}

void lease_registry::detach(lease_record& what)
{
    what.detached = true;
    lose(what, errc::lease_lost);
    if (!what.has_handles()) let_go(what);
}

void lease_registry::let_go(lease_record& what)
{
    if (what.is_lease()) what.phase = lease_record::state::released;
    if (what.registry() == nullptr) return;
    env_.cancel_timer(what);
    --env_.count.leases;
    auto const index = what.index();
    held_.back()->set_index(index);
    what.leave_registry();
    std::swap(held_[index], held_.back());
    held_.pop_back();
}

void lease_registry::clear() noexcept
{
    auto const gone = std::exchange(held_, {});
    for (auto const& h : gone) h->clear();
}

}  // namespace redlock::detail
