#include "core/acquisitions.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::detail {

using quorum::acquire_outcome;

namespace {

constexpr time_point never = time_point::max();

error_code to_error(acquire_outcome outcome)
{
    switch (outcome) {
    case acquire_outcome::granted: return {};
    case acquire_outcome::contended: return errc::contended;
    case acquire_outcome::no_majority: return errc::no_majority;
    case acquire_outcome::validity_exhausted: return errc::validity_exhausted;
    case acquire_outcome::pending: break;
    }
    assert(false);
    return errc::no_majority;
}

}  // namespace

acquisition::acquisition(acquisitions& owner, std::shared_ptr<core> of, acquire_request what, lease_handler handler, time_point now)
    : owner_{owner},
      core_{std::move(of)},
      request_{std::move(what)},
      handler_{std::move(handler)},
      delay_{options().retry_delay_min, options().retry_delay_max},
      started_{now},
      deadline_{options().deadline ? now + *options().deadline : never}
{
}

void acquisition::on_alarm(time_point now)
{
    auto const self = shared_from_this();
    if (now >= deadline_) {
        owner_.detach(*this);
        return owner_.finish(*this, errc::deadline_exceeded, {});
    }
    if (!current_) owner_.try_now(*this, now);
}

bool acquisition::is_asked_from(asio::any_io_executor const& scope) const
{
    return request_.within ? request_.within->asker == scope : handler_.runs_on(scope);
}

bool acquisition::takes_what_is_held(hold const& lease) const noexcept
{
    return !stop_when_idle_ && lease.what->under->suit(*request_.what->under);
}

void acquisitions::start(std::shared_ptr<acquisition> const& what, time_point now)
{
    if (what->stop_when_idle_) return refuse(*what, asio::error::operation_aborted);
    what->started_waiting_ = true;
    waiting_.push_back(*what);
    what->self_ = what;
    ++env_.count.waiting;
    if (what->deadline_ != never) env_.set_alarm(*what, what->deadline_);
    line* const there = lines_.find(*what->request_.what);
    hold* const here = lines_.lease_of(*what->request_.what, there);
    if (here && nest(*what, *here, now)) return;
    if (what->is_impatient()) return try_now(*what, now);
    line& in = there ? *there : lines_.make(what->request_.what, now);
    watch_for_self_wait(*what, in);
    in.join(*what, now);
}

// The owner that holds the lock asks for it again.
bool acquisitions::nest(acquisition& what, hold& lease, time_point now)
{
    auto const& options = what.options();
    bool const enough = lease.is_fenced() || !options.fencing;
    if (options.owner == owner_id{} || !lease.has_holders() || lease.owner() != options.owner || !enough) return false;
    if (!lease.is_lease() || now >= lease.machine->stops_at()) return false;
    auto const inner = lease.add_nested();
    inner->set_scope(what.request_.within);
    ++env_.count.acquired;
    ++env_.count.nested;
    if (env_.observed) env_.observed->nested(*inner, what.started_, what.attempts_);
    finish(what, {}, redlock::lease{inner});
    return true;
}

void acquisitions::try_now(acquisition& what, time_point now)
{
    resource const& names = *what.request_.what;
    if (lines_.lease_of(names, lines_.find(names))) return refuse_at_home(what, now);
    if (what.deadline_ != never) env_.set_alarm(what, what.deadline_);
    next_attempt(what, now);
}

// What this client itself holds, the nodes need not be asked for.
void acquisitions::refuse_at_home(acquisition& what, time_point now)
{
    ++what.attempts_;
    ++env_.count.contended;
    if (env_.observed) env_.observed->refused_at_home(what.request_.what, what.started_, what.attempts_);
    what.last_outcome_ = errc::contended;
    if (what.request_.report) {
        name_nodes(what);
        for (node_verdict& v : what.verdicts_) v.detail = "not asked: this client holds the lock";
    }
    retry_later(what, errc::contended, now);
}

// An impatient acquisition was refused.
void acquisitions::retry_later(acquisition& what, error_code why, time_point now)
{
    if (what.request_.once || what.attempts_ >= what.options().attempts_max) return finish(what, why, {});
    what.retry_at_ = now + what.next_delay(env_.jitter);
    env_.set_alarm(what, std::min(what.retry_at_, what.deadline_));
}

// Whoever asks runs inside the scope that holds the lock.
void acquisitions::watch_for_self_wait(acquisition const& what, line const& in)
{
    if (!in.here()) return;
    bool own = false;
    in.here()->each_holder([&](holder const& h) { own = own || (h.scope() && what.is_asked_from(h.scope()->scope)); });
    if (own) ++env_.count.self_waits;
    if (own && env_.observed) env_.observed->self_wait(what.request_.what);
}

void acquisitions::name_nodes(acquisition& what)
{
    what.verdicts_.assign(env_.to_nodes->nodes(), {});
    for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node) what.verdicts_[node].node = env_.to_nodes->name(node);
}

void acquisitions::refuse(acquisition& what, error_code why)
{
    what.done_ = true;
    if (env_.observed) env_.observed->not_acquired(what.request_.what, why, what.started_, what.attempts_);
    if (what.request_.report) fill_report(what, why);
    what.handler_(why, lease{});
}

void acquisitions::next_attempt(acquisition& what, time_point now)
{
    assert(!what.done_ && !what.current_);
    ++what.attempts_;
    if (what.request_.report) name_nodes(what);
    auto const& times = what.request_.what->under->times;
    auto made = make_recycled<hold>(what.core_, what.request_.what, env_.fresh_value());
    made->refreshed = now;
    env_.to_nodes->ttl_in_use(times.key_ttl);
    auto const a = make_recycled<attempt>(*this, what, std::move(made), now);
    hold& h = *a->hold_;
    h.may_live_until(now + 2 * times.key_ttl);  // it may wait in a node's queue for as long as it would be valid
    what.current_ = a;
    env_.set_alarm(*a, a->machine_.times_out());
    command c = h.request(verb::acquire);
    if (h.is_fenced()) c.token = env_.tokens.next();
    h.asked_in = env_.to_nodes->next_round();
    env_.to_nodes->add({c, a});
}

void acquisitions::decided(attempt& a, acquire_outcome outcome, time_point now)
{
    assert(a.caller_ && a.caller_->current_.get() == &a);
    acquisition& what = *a.caller_;
    env_.cancel_alarm(a);
    if (outcome == acquire_outcome::granted && !leases_.adopt(a.hold_, a.machine_, now)) outcome = acquire_outcome::validity_exhausted;
    what.last_outcome_ = to_error(outcome);
    if (outcome == acquire_outcome::granted || outcome == acquire_outcome::contended) lines_.took(now - a.machine_.sent());
    if (outcome == acquire_outcome::granted) {
        auto const h = a.hold_;
        a.caller_ = nullptr;
        what.current_.reset();
        h->own(*a.machine_.token());
        lines_.won(*h, what.line_, now);
        if (env_.observed) env_.observed->won(a.machine_.votes());
        return give(what, *h);
    }
    if (outcome == acquire_outcome::contended) ++env_.count.contended;
    if (outcome == acquire_outcome::no_majority) ++env_.count.no_majority;
    if (outcome == acquire_outcome::validity_exhausted) ++env_.count.validity_exhausted;
    bool const hopeless = outcome == acquire_outcome::no_majority && a.is_ttl_too_long();
    if (hopeless) what.last_outcome_ = errc::ttl_too_long;
    if (env_.observed) env_.observed->attempt_failed(a.hold_->what, a.machine_.votes(), what.last_outcome_, what.started_, what.attempts_);
    auto const lost = a.shared_from_this();
    detach(what);
    if (hopeless && !what.stop_when_idle_) return finish(what, errc::ttl_too_long, {});
    fell_through(what, *lost, what.last_outcome_, now);
}

void acquisitions::give(acquisition& what, hold& lease)
{
    auto to = lease.add_holder(env_.to_nodes->nodes());
    to->set_scope(what.request_.within);
    lease.set_owner(what.options().owner);
    ++env_.count.acquired;
    if (env_.observed) env_.observed->acquired(*to, what.started_, what.attempts_);
    what.last_outcome_ = {};
    auto const owner = what.options().owner;
    finish(what, {}, redlock::lease{std::move(to)});
    line* const in = owner == owner_id{} ? nullptr : lines_.behind(lease);
    if (!in) return;
    // Others who stand in line for the same owner hold it with him.
    auto const now = env_.now();
    for (auto const& other : in->waiting_for(owner)) nest(*other, lease, now);
}

bool acquisitions::hand_over(hold& lease, time_point now)
{
    line* const in = lines_.behind(lease);
    if (!in || !in->may_hand_over(lease, now)) return false;
    auto const next = in->first().shared_from_this();
    detach(*next);  // it may have asked before there was a lease here
    in->handed_over();
    ++env_.count.handed_over;
    if (env_.observed) env_.observed->handed_over(lease);
    leases_.hand_over(lease, now);
    give(*next, lease);
    return true;
}

void acquisitions::on_released(hold& lease, time_point now)
{
    lines_.vacated(lease, true, now);
    lines_.freed_by_us(*lease.what, lease.touched, nullptr, now);
}

// An attempt was not won: what to do next.
void acquisitions::fell_through(acquisition& what, attempt const& lost, error_code why, time_point now)
{
    if (what.stop_when_idle_) return finish(what, asio::error::operation_aborted, {});
    if (what.is_impatient()) return retry_later(what, why, now);
    what.line_->failed(lost, now);
}

// The attempt under way, if any, no longer has a caller: whatever was or will be granted is given back.
void acquisitions::detach(acquisition& what)
{
    auto const a = std::exchange(what.current_, nullptr);
    if (!a) return;
    a->caller_ = nullptr;
    env_.cancel_alarm(*a);
    undo(*a, what.line_);
}

// `of`: the line whose first made the attempt. What comes next for that one is not known yet.
void acquisitions::undo(attempt& a, line* of)
{
    a.hold_->phase = hold::state::released;
    auto const now = env_.now();
    releases_.start(a.hold_, now, errc{}, a.refused_);
    if (a.granted_) lines_.freed_by_us(*a.hold_->what, a.granted_, of, now);
}

void acquisitions::cancel(acquisition& what, asio::cancellation_type_t type)
{
    if (what.done_) return;
    if (!what.started_waiting_) {
        what.stop_when_idle_ = true;
        return;
    }
    auto const undo = asio::cancellation_type::terminal | asio::cancellation_type::partial;
    if ((type & undo) == asio::cancellation_type::none && what.current_) {
        what.stop_when_idle_ = true;
        return;
    }
    detach(what);
    finish(what, asio::error::operation_aborted, {});
}

void acquisitions::fail_all(error_code why)
{
    lines_.close();
    while (!waiting_.empty()) {
        acquisition& what = waiting_.front();
        detach(what);
        finish(what, why, {});
    }
}

void acquisitions::finish(acquisition& what, error_code ec, lease held)
{
    assert(!what.done_ && !what.current_);
    what.done_ = true;
    auto const self = std::move(what.self_);
    waiting_.erase(waiting_.iterator_to(what));
    --env_.count.waiting;
    if (ec && env_.observed) env_.observed->not_acquired(what.request_.what, ec, what.started_, what.attempts_);
    env_.cancel_alarm(what);
    if (what.line_) what.line_->leave(what);
    if (what.request_.report) fill_report(what, ec);
    what.handler_(ec, std::move(held));
}

void acquisitions::fill_report(acquisition& what, error_code ec)
{
    attempt_report& report = *what.request_.report;
    report.outcome = what.last_outcome_ || !ec ? what.last_outcome_ : ec;
    report.attempts = what.attempts_;
    report.elapsed = to_microseconds(env_.now() - what.started_);
    report.nodes = std::move(what.verdicts_);
}

void acquisitions::clear() noexcept
{
    lines_.clear();
    waiting_.clear_and_dispose([](acquisition* what) { auto const self = std::move(what->self_); });
}

}  // namespace redlock::detail
