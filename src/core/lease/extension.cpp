#include "core/lease/extension.hpp"

#include "core/lease/lease_registry.hpp"

#include <algorithm>
#include <cassert>

namespace redlock::detail {

using quorum::extend_outcome;

extension::extension(lease_registry& owner, std::shared_ptr<lease_record> what, time_point now, bool after_climb)
    : operation{owner.env(), std::move(what)},
      owner_{owner},
      machine_{owner.env().voters, now, record_->machine.valid_until(), record_->what->under->times},
      began_{now},
      renews_counters_{record_->wants_refresh(now)},
      may_climb_{!after_climb}
{
}

void extension::wait(std::shared_ptr<waiter> who)
{
    if (who->asks_why) votes_.keep(env_.to_nodes->nodes());
    waiters_.push_back(std::move(who));
}

bool extension::wanted(std::size_t, time_point now) const
{
    // Never extend after the deadline that the holder counts on, nor what is being released.
    return record_->is_lease() && now < record_->machine.stops_at();
}

command extension::request() const
{
    command c = record_->request(verb::extend);
    c.refresh = renews_counters_;
    return c;
}

void extension::does_not_ask(quorum::node_set const& nodes)
{
    for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node)
        if (nodes.has(node)) machine_.on_vote(record_->machine, node, vote::failed);
}

void extension::on_sent(quorum::node_set const& nodes, time_point now)
{
    machine_.on_sent(nodes, now);
    record_->sent_to.add(nodes);
    record_->may_live_until(now + 2 * record_->what->under->times.key_ttl);  // it may be under way for as long as it is valid
}

void extension::on_vote(std::size_t node, reply const& answer, time_point now)
{
    record_->extended_on.remove(node);
    auto const before = record_->machine.valid_until();
    bool const is_late = machine_.outcome() != extend_outcome::pending;
    auto const outcome = machine_.on_vote(record_->machine, node, answer.vote);
    votes_.add(node, answer);
    if (is_late && record_->machine.valid_until() > before) record_->machine.on_late_renewal(now);
    if (answer.vote == vote::refused) needed_ = std::max(needed_, answer.counter);
    if (answer.recreated) ++env_.count.recreated;
    // As with late grants: the release is behind it, unless a server that had lost its scripts got them in another order.
    if (record_->release_started && (answer.recreated || answer.vote == vote::failed)) owner_.all_releases().repeat(record_, node);
    if (record_->is_lease()) {
        record_->publish(now);
        if (answer.recreated) owner_.publish_again(*record_, now);
        if (record_->registry() && outcome == extend_outcome::pending) owner_.set_timer(*record_);
    }
    if (outcome != extend_outcome::pending) decided(outcome, now);
    climb_if_needed(now);
}

// Only a lease that a majority still keeps can climb: one that counts now, or the smaller one of before that the lease goes on by. It may be known only
// later that a node needs it.
void extension::climb_if_needed(time_point now)
{
    if (!may_climb_ || needed_ == 0) return;
    bool const is_kept = machine_.outcome() == extend_outcome::renewed || record_->machine.former_majority() > 0;
    if (is_kept) owner_.start_climb(record_, needed_, now);
}

void extension::time_is_up(time_point now)
{
    auto const outcome = machine_.on_timeout(record_->machine);
    if (outcome != extend_outcome::pending) decided(outcome, now);
}

void extension::decided(extend_outcome outcome, time_point now)
{
    env_.cancel_timer(*this);
    error_code result = errc::no_majority;
    auto& count = env_.count;
    switch (outcome) {
    case extend_outcome::renewed:
        ++count.extensions_renewed;
        if (renews_counters_) record_->refreshed = began_;
        if (renews_counters_) owner_.publish_again(*record_, now);
        result = {};
        break;
    case extend_outcome::held: ++count.extensions_held; break;
    case extend_outcome::unknown: ++count.extensions_unknown; break;
    case extend_outcome::lost:
        ++count.extensions_lost;
        result = errc::lease_lost;
        break;
    case extend_outcome::pending: assert(false);
    }
    // What is answered when the lease is over is no news: its end has been told.
    if (env_.observed && record_->is_lease()) env_.observed->extension_decided(record_->told(now), outcome, began_);
    record_->machine.on_extension_done(outcome, now);
    if (outcome == extend_outcome::lost) owner_.lose(*record_, errc::lease_lost);
    if (record_->registry() && record_->is_lease()) {
        owner_.recreate_if_needed(*record_, now);
        owner_.set_timer(*record_);
    }
    if (record_->phase == lease_record::state::lost) result = record_->first.lost_because.load();
    waiters_.complete_all(result, result == errc::no_majority ? votes_.first(*env_.to_nodes) : std::string{record_->first.loss_reason()});
}

}  // namespace redlock::detail
