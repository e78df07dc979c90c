#include "core/lease/releases.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cassert>
#include <iterator>
#include <utility>

namespace redlock::detail {

using quorum::release_outcome;

namespace {

// A lease may stand on a server that has left the set since then, or on a smaller majority of before. Then a member which lacks the key does not show
// that the lease was lost.
quorum::electorate voters_of(lease_record const& what, environment const& env, time_point now)
{
    auto of = env.voters;
    bool const is_as_listed = of.members == of.nodes && of.needed == quorum::majority(of.nodes) && !env.set_was_resized;
    if (is_as_listed || !what.machine.has_begun()) return of;
    of.members = what.machine.may_hold(now);
    if (auto const former = what.machine.former_majority(); former > 0) of.needed = std::min(of.needed, former);
    return of;
}

}  // namespace

release::release(releases& owner, std::shared_ptr<lease_record> const& what, errc lost_before, time_point now, std::uint32_t wave)
    : operation{owner.env(), what}, owner_{owner}, lost_before_{lost_before}, machine_{voters_of(*what, owner.env(), now)}, wave_{wave}
{
}

release::~release() { record_->set_pending_release(nullptr); }

bool release::wanted(std::size_t node, time_point now) const { return record_->sent_to.has(node) && record_->may_live(now); }

void release::on_vote(std::size_t node, reply const& answer, time_point)
{
    // That the key is not on a server which is no member of the set says nothing: the lease need not be there.
    votes_.add(node, answer);
    bool const counts = answer.vote != vote::refused || env_.members.has(node);
    auto const outcome = machine_.on_vote(node, counts ? answer.vote : vote::failed);
    if (env_.lookers > 0) env_.changed_by_us(record_->what->first());  // with many callers, the record is in no cache any more
    if (outcome != release_outcome::pending && !is_over()) decided(outcome);
    if (machine_.complete() && !std::exchange(complete_, true)) owner_.completed(wave_);
}

void release::decided(release_outcome outcome)
{
    end();
    bool const was_a_lease = record_->machine.has_begun();  // and not an attempt that is rolled back
    if (was_a_lease && outcome == release_outcome::released) ++env_.count.released;
    if (was_a_lease && outcome == release_outcome::no_majority) ++env_.count.releases_unconfirmed;
    if (was_a_lease && env_.observed) env_.observed->released(record_->told(env_.now()), to_error(result()));
    record_->release_error = result();
    waiters_.complete_all(to_error(record_->release_error), reason());
}

errc release::result() const
{
    if (lost_before_ != errc{}) return lost_before_;
    switch (machine_.outcome()) {
    case release_outcome::released: return errc{};
    case release_outcome::lost: return errc::lease_lost;
    case release_outcome::no_majority:
    case release_outcome::pending: break;
    }
    return errc::release_unconfirmed;
}

// Why it could not be released, or was not held any more.
std::string release::reason() const
{
    if (lost_before_ != errc{}) return std::string{record_->first.loss_reason()};
    switch (result()) {
    case errc::lease_lost: return failed_votes::gone_at(votes_.refused(), *env_.to_nodes);
    case errc::release_unconfirmed: return votes_.first(*env_.to_nodes);
    default: return {};
    }
}

void release::wait(std::shared_ptr<waiter> who)
{
    assert(!is_over());
    if (who->asks_why) votes_.keep(env_.to_nodes->nodes());
    waiters_.push_back(std::move(who));
}

void release::abandon(waiter const* who) { waiters_.complete(who, asio::error::operation_aborted); }

void releases::start(std::shared_ptr<lease_record> const& what, time_point now, errc lost_before, quorum::node_set const& not_at)
{
    if (what->release_started) return;
    what->release_started = true;
    if (not_at.size() == env_.to_nodes->nodes()) return;  // none is left
    auto const r = make_recycled<release>(*this, what, lost_before, now, begin_in(newest_wave()));
    what->set_pending_release(r.get());
    // Releases go first in a round, but not before a request of the same round that would set the key.
    bool const goes_first = what->asked_in != env_.to_nodes->next_round();
    release::ask(r, what->request(verb::release), now + what->what->under->times.node_timeout, not_at, goes_first);
    if (not_at.empty()) return;
    for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node)
        if (not_at.has(node)) r->on_vote(node, reply{vote::refused, {}, {}}, now);
}

// A release at one node of which nobody waits for the answer, but drain() does.
class releases::repetition final : public vote_handler {
public:
    repetition(releases& owner, std::shared_ptr<lease_record> what, std::uint32_t wave)
        : owner_{owner}, wave_{wave}, record_{std::move(what)}
    {
    }

    void on_vote(std::size_t, reply const&, time_point) override
    {
        if (!std::exchange(answered_, true)) owner_.completed(wave_);
    }
    bool wanted(std::size_t, time_point now) const override { return record_->may_live(now); }

private:
    releases& owner_;
    std::uint32_t wave_;
    bool answered_{false};  // a lost connection answers first, and the release goes out again
    std::shared_ptr<lease_record> record_;
};

void releases::repeat(std::shared_ptr<lease_record> const& what, std::size_t node)
{
    if (!what->sent_to.has(node)) return;
    // It was set just now, perhaps: a request may take longer than anybody counted on.
    what->may_live_until(env_.now() + 2 * what->what->under->times.key_ttl);
    release const* const r = what->pending_release();
    if (r && r->is_pending(node)) return;
    auto const wave = begin_in(r ? std::max(r->wave(), oldest_wave_) : newest_wave());
    env_.to_nodes->ask(node, {what->request(verb::release), make_recycled<repetition>(*this, what, wave)});
}

void releases::wait(lease_record const& what, std::shared_ptr<waiter> who)
{
    assert(what.release_started);
    release* const r = what.pending_release();
    if (!r || r->is_over()) return who->fail(to_error(what.release_error), what.first.loss_reason());
    r->wait(std::move(who));
}

void releases::abandon(lease_record const& what, waiter const* who)
{
    if (release* const r = what.pending_release()) r->abandon(who);
}

std::uint32_t releases::begin_in(std::uint32_t wave)
{
    ++pending_;
    ++env_.count.releases_pending;
    ++waves_[wave - oldest_wave_].pending;
    return wave;
}

void releases::completed(std::uint32_t wave)
{
    --pending_;
    --env_.count.releases_pending;
    --waves_[wave - oldest_wave_].pending;
    while (waves_.size() > 1 && waves_.front().pending == 0) {
        waiter_list served{std::move(waves_.front().drainers)};
        waves_.pop_front();
        ++oldest_wave_;
        served.complete_all({});
    }
    if (pending_ == 0 && on_idle) on_idle();
}

void releases::drain(std::shared_ptr<waiter> who)
{
    if (idle()) return who->done(error_code{});
    if (waves_.back().pending > 0) waves_.emplace_back();
    std::prev(waves_.end(), 2)->drainers.push_back(std::move(who));  // the newest one that has something pending
}

void releases::abandon_drain(waiter const* who)
{
    for (releases_of_wave& each : waves_)
        if (each.drainers.complete(who, asio::error::operation_aborted)) return;
}

void releases::finish_draining(error_code ec)
{
    for (releases_of_wave& each : waves_) each.drainers.complete_all(ec);
}

void releases::clear() noexcept
{
    for (releases_of_wave& each : waves_) each.drainers.clear();
}

}  // namespace redlock::detail
