#include "core/acquire/acquisitions.hpp"

#include "base/cancellation.hpp"
#include "core/acquire/lock_kind.hpp"
#include "core/acquire/self_deadlock.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <cassert>
#include <string>
#include <string_view>
#include <utility>

namespace redlock::detail {

using quorum::acquire_outcome;

namespace {

constexpr std::string_view held_here = "this client holds the lock";

error_code error_of(acquire_outcome outcome, attempt const& of)
{
    switch (outcome) {
    case acquire_outcome::granted: return {};
    case acquire_outcome::contended: return of.has_split_votes() ? errc::split_votes : errc::contended;
    case acquire_outcome::no_majority: return errc::no_majority;
    case acquire_outcome::validity_exhausted: return errc::validity_exhausted;
    case acquire_outcome::pending: break;
    }
    assert(false);
    return errc::no_majority;
}

}  // namespace

void acquisitions::start(std::shared_ptr<acquisition> const& what, time_point now)
{
    if (what->stop_when_idle) return refuse(*what, asio::error::operation_aborted);
    lock_kind const* const special = lock_table_.kind_of(*what->request.what);
    if (errc const why = special ? special->why_never(*what->request.what) : errc{}; why != errc{}) return refuse(*what, why);
    what->started_waiting = true;
    waiting_.push_back(*what);
    what->keeps_itself = what;
    ++env_.count.waiting;
    if (what->has_deadline()) env_.set_timer(*what, what->deadline);
    wait_queue* const there = lock_table_.find(*what->request.what);
    lease_record* const here = lock_table_.lease_of(*what->request.what, there);
    if (here && reenter(*what, *here, now)) return;
    if (what->request.what->is_for_readers() && reenter_to_read(*what, now)) return;
    if (!what->request.once && waits_for_itself(*what, here, lock_table_, now)) return fail_in_self_deadlock(*what);
    if (what->fails_fast()) return try_now(*what, now);
    wait_queue& in = there ? *there : lock_table_.make(what->request.what, now);
    in.join(*what, now);
}

// The owner that holds the lock asks for it again, or had asked the nodes for it before.
bool acquisitions::reenter(acquisition& what, lease_record& lease, time_point now)
{
    auto const& options = what.options();
    bool const enough = lease.is_fenced() || !options.fencing;
    if (what.stop_when_idle) return false;
    if (options.owner == owner_id{} || !lease.has_handles() || lease.owner() != options.owner || !enough) return false;
    if (!lease.is_lease() || now >= lease.machine.stops_at()) return false;
    auto const inner = lease.add_nested();
    inner->set_scope(what.request.within);
    ++env_.count.acquired;
    ++env_.count.nested;
    if (env_.observed) env_.observed->nested(inner->told(), what.started, what.attempts);
    what.last_outcome = {};
    give_up_attempt_of(what);
    finish(what, {}, redlock::lease{inner});
    return true;
}

// The owner reads already, or writes: to wait for others, who wait for this owner, would be to wait for itself.
bool acquisitions::reenter_to_read(acquisition& what, time_point now)
{
    if (what.owner() == owner_id{}) return false;
    lease_record* own = nullptr;
    lock_table_.each_on(what.request.what->first(), [&](lease_record& lease) {
        if (lease.has_handles() && lease.owner() == what.owner()) own = &lease;
    });
    return own && reenter(what, *own, now);
}

void acquisitions::try_now(acquisition& what, time_point now)
{
    resource const& names = *what.request.what;
    lease_record* const here = lock_table_.lease_of(names, lock_table_.find(names));
    if (here && reenter(what, *here, now)) return;
    if (here) return reject_locally(what, held_here, now);
    if (auto const why = why_not_now(names); !why.empty()) return reject_locally(what, why, now);
    if (what.has_deadline()) env_.set_timer(what, what.deadline);
    next_attempt(what, now);
}

std::string_view acquisitions::why_not_now(resource const& asked) const
{
    lock_kind const* const special = lock_table_.kind_of(asked);
    return special ? special->why_not_now(asked, lock_table_) : std::string_view{};
}

// What this client itself holds, the nodes need not be asked for.
void acquisitions::reject_locally(acquisition& what, std::string_view why, time_point now)
{
    ++what.attempts;
    ++env_.count.contended;
    if (env_.observed) env_.observed->rejected_locally(what.request.what, what.started, what.attempts);
    what.last_outcome = errc::contended;
    what.was_not_sent(env_.to_nodes->nodes(), why);
    retry_later(what, errc::contended, now);
}

// An acquisition that fails fast was refused.
void acquisitions::retry_later(acquisition& what, error_code why, time_point now)
{
    if (what.request.once || what.attempts >= what.options().max_attempts) return finish(what, why, {});
    what.retry_at = now + what.next_delay(env_.jitter);
    env_.set_timer(what, std::min(what.retry_at, what.deadline));
}

void acquisitions::fail_in_self_deadlock(acquisition& what)
{
    ++env_.count.self_deadlocks;
    if (env_.observed) env_.observed->self_deadlock(what.request.what);
    finish(what, errc::self_deadlock, {});
}

// Somebody else had the lock, as far as the nodes said last; or that could not be known.
errc acquisitions::why_too_late(acquisition const& what) const
{
    if (!env_.has_run) return errc::client_not_running;
    if (!why_not_now(*what.request.what).empty()) return errc::acquire_timed_out;
    bool const contended = what.queue_of ? what.queue_of->outlook() == quorum::lock_outlook::held
                                         : what.last_outcome == condition::contended;
    return contended ? errc::acquire_timed_out : errc::acquire_timed_out_no_majority;
}

void acquisitions::refuse(acquisition& what, error_code why)
{
    what.done = true;
    if (env_.observed) env_.observed->not_acquired(what.request.what, why, what.started, what.attempts);
    what.report(why);
    what.handler(why, lease{});
}

void acquisitions::next_attempt(acquisition& what, time_point now)
{
    assert(!what.done && !what.current);
    ++what.attempts;
    what.verdicts.clear();
    lock_descriptor const& wanted = *what.request.what;
    auto const& times = wanted.under->times;
    auto made = make_recycled<lease_record>(what.from, what.request.what, env_.fresh_value());
    made->refreshed = now;
    env_.to_nodes->ttl_in_use(times.key_ttl);
    lock_kind const* const special = lock_table_.kind_of(wanted);
    if (special) what.current = special->make_attempt(*this, what, std::move(made), now);
    else what.current = make_recycled<attempt>(*this, what, std::move(made), now);
    lease_record& record = *what.current->record();
    record.may_live_until(now + 2 * times.key_ttl);  // it may wait in a node's queue for as long as it would be valid
    env_.set_timer(*what.current, what.current->machine().times_out());
    pending_request asked{record.request(verb::acquire), what.current};
    if (record.is_fenced()) asked.request.token = env_.tokens.next();
    if (what.request.once || what.attempts == what.options().max_attempts) what.current->hear_all_nodes();
    record.asked_in = env_.to_nodes->next_round();
    special ? special->send(std::move(asked), what, *env_.to_nodes) : env_.to_nodes->add(std::move(asked));
}

void acquisitions::on_decided(attempt& a, acquire_outcome outcome, time_point now)
{
    assert(a.caller() && a.caller()->current.get() == &a);
    acquisition& what = *a.caller();
    env_.cancel_timer(a);
    if (outcome == acquire_outcome::granted && !leases_.adopt(a.record(), a.machine(), now)) outcome = acquire_outcome::validity_exhausted;
    what.last_outcome = error_of(outcome, a);
    if (outcome == acquire_outcome::granted || outcome == acquire_outcome::contended)
        lock_table_.observe_round_trip(now - a.machine().sent(), now);
    if (outcome == acquire_outcome::granted) return on_won(a, what, now);
    if (outcome == acquire_outcome::contended) ++env_.count.contended;
    if (outcome == acquire_outcome::no_majority) ++env_.count.no_majority;
    if (outcome == acquire_outcome::validity_exhausted) ++env_.count.validity_exhausted;
    errc const hopeless = why_hopeless(a, outcome);
    if (hopeless != errc{}) what.last_outcome = hopeless;
    if (outcome == acquire_outcome::no_majority && !env_.has_run) what.last_outcome = errc::client_not_running;
    if (env_.outages) log_outage(a, outcome, now);
    if (env_.observed) env_.observed->attempt_failed(a.record()->what, a.machine().votes(), what.last_outcome, what.started, what.attempts);
    auto const lost = a.shared_from_this();
    give_up_attempt_of(what);
    if (hopeless != errc{} && !what.stop_when_idle) return finish(what, what.last_outcome, {});
    on_attempt_failed(what, *lost, what.last_outcome, now);
}

void acquisitions::on_won(attempt& a, acquisition& what, time_point now)
{
    auto const record = a.record();
    if (what.request.report) a.report_grants();
    a.leave_caller();
    what.current.reset();
    if (env_.outages) env_.outages->answered(record->is_fenced());
    record->assign_tokens(*a.machine().token());
    lock_table_.won(*record, what.queue_of, now);
    if (env_.observed) env_.observed->won(a.machine().votes());
    if (!record->reads()) return grant(what, *record);
    wait_queue* const in = what.queue_of ? what.queue_of : lock_table_.find(*record->what);
    auto const next = in ? in->shared_from_this() : nullptr;
    grant(what, *record);
    if (next) next->rules()->granted(env_.now());
}

// Why no later attempt can be won either, unless somebody changes something; errc{}: one may be.
errc acquisitions::why_hopeless(attempt const& lost, acquire_outcome outcome) const
{
    if (errc const why = lost.why_hopeless(); why != errc{}) return why;
    if (outcome != acquire_outcome::no_majority) return {};
    if (env_.is_list_refused || lost.is_of_wrong_set()) return errc::wrong_node_set;
    return lost.is_ttl_too_long() ? errc::ttl_too_long : errc{};
}

void acquisitions::log_outage(attempt const& lost, acquire_outcome outcome, time_point now)
{
    bool const fenced = lost.record()->is_fenced();
    if (outcome == acquire_outcome::contended) return env_.outages->answered(fenced);
    if (outcome != acquire_outcome::no_majority) return;
    bool const timed_out = now >= lost.machine().times_out();  // if not, others decided it, and the rest had no time to answer
    quorum::node_set silent;
    for (std::size_t node = 0; node < env_.to_nodes->nodes(); ++node) {
        auto const said = lost.machine().votes().of(node);
        if (said == vote::failed || (said == vote::pending && timed_out)) silent.add(node);
    }
    env_.outages->failed(*env_.to_nodes, silent, fenced, env_.has_run, lost.machine().sent(), now);
}

void acquisitions::grant(acquisition& what, lease_record& lease)
{
    auto to = lease.add_handle(env_.set_size);
    to->set_scope(what.request.within);
    lease.set_owner(what.options().owner);
    ++env_.count.acquired;
    if (env_.observed) env_.observed->acquired(to->told(), what.started, what.attempts);
    what.last_outcome = {};
    auto const owner = what.options().owner;
    finish(what, {}, redlock::lease{std::move(to)});
    wait_queue* const in = owner == owner_id{} ? nullptr : lock_table_.behind(lease);
    if (!in) return;
    // Others who wait in the queue for the same owner hold it with it.
    auto const now = env_.now();
    for (auto const& other : in->waiting_for(owner)) reenter(*other, lease, now);
}

bool acquisitions::hand_over(lease_record& lease, time_point now)
{
    wait_queue* const in = lock_table_.behind(lease);
    if (!in || !in->may_hand_over(lease, now)) return false;
    auto const next = in->first().shared_from_this();
    give_up_attempt_of(*next);  // it may have asked before there was a lease here
    in->handed_over(lease);
    ++env_.count.handoffs;
    if (env_.observed) env_.observed->handed_over(lease.told(now));
    leases_.hand_over(lease, now);
    grant(*next, lease);
    return true;
}

void acquisitions::on_released(lease_record& lease, time_point now)
{
    lock_table_.vacated(lease, true, now);
    lock_table_.freed_by_us(*lease.what, lease.sent_to, nullptr, now);
}

void acquisitions::on_downgraded(lease_record& lease, time_point now)
{
    lock_table_.downgraded(lease, now);
    lock_table_.freed_by_us(*lease.what, lease.sent_to, nullptr, now);  // for the readers of this client that wait
}

// An attempt was not won: what to do next.
void acquisitions::on_attempt_failed(acquisition& what, attempt const& lost, error_code why, time_point now)
{
    if (what.stop_when_idle) return finish(what, asio::error::operation_aborted, {});
    if (what.fails_fast()) return retry_later(what, why, now);
    what.queue_of->failed(what, lost, now);
}

void acquisitions::give_up_attempt_of(acquisition& what)
{
    auto const a = std::exchange(what.current, nullptr);
    if (!a) return;
    if (what.is_reported()) a->report_grants();
    a->leave_caller();
    env_.cancel_timer(*a);
    undo(*a, what.queue_of);
}

void acquisitions::undo(attempt& a, wait_queue* of)
{
    a.record()->phase = lease_record::state::released;
    auto const now = env_.now();
    releases_.start(a.record(), now, errc{}, a.refused());
    if (!a.granted().empty()) lock_table_.freed_by_us(*a.record()->what, a.granted(), of, now);
}

void acquisitions::cancel(acquisition& what, asio::cancellation_type_t type)
{
    if (what.done) return;
    if (!what.started_waiting) {
        what.stop_when_idle = true;
        return;
    }
    if (!gives_up(type) && what.current) {
        what.stop_when_idle = true;
        return;
    }
    give_up_attempt_of(what);
    finish(what, asio::error::operation_aborted, {});
}

void acquisitions::fail_all(error_code why)
{
    lock_table_.close();
    while (!waiting_.empty()) {
        acquisition& what = waiting_.front();
        give_up_attempt_of(what);
        finish(what, why, {});
    }
}

void acquisitions::finish(acquisition& what, error_code ec, lease held)
{
    assert(!what.done && !what.current);
    what.done = true;
    auto const self = std::move(what.keeps_itself);
    waiting_.erase(waiting_.iterator_to(what));
    --env_.count.waiting;
    if (ec && env_.observed) env_.observed->not_acquired(what.request.what, ec, what.started, what.attempts);
    env_.cancel_timer(what);
    if (ec && what.queue_of && what.queue_of->here()) what.was_not_sent(env_.to_nodes->nodes(), held_here);
    if (what.queue_of) what.queue_of->leave(what);
    what.report(ec);
    what.handler(ec, std::move(held));
}

void acquisitions::clear() noexcept
{
    lock_table_.clear();
    waiting_.clear_and_dispose([](acquisition* what) { auto const self = std::move(what->keeps_itself); });
}

}  // namespace redlock::detail
