// The engine's operations on locks and leases.
#include "client/engine.hpp"
#include "core/lease/state_rounds.hpp"

#include <boost/asio/error.hpp>

#include <algorithm>
#include <utility>

namespace redlock::detail {

namespace {

std::shared_ptr<lease_handle> to_handle(std::shared_ptr<lease_state> of) { return std::static_pointer_cast<lease_handle>(std::move(of)); }

}  // namespace

void engine::acquire(acquire_request&& request, lease_handler&& handler)
{
    auto const slot = handler.slot();
    auto const asked = now();
    auto what = make_recycled<acquisition>(acquisitions_, self(), std::move(request), std::move(handler), asked);
    on_cancel(slot, at_any, [&] {
        return [this, op = std::weak_ptr{what}](asio::cancellation_type_t type) {
            if (auto const found = op.lock()) acquisitions_.cancel(*found, type);
        };
    });
    auto start = [this, what = std::move(what)](time_point t) {
        bool const open = life_ == life::idle || life_ == life::running;
        if (open && what->options().clock_drift > clock_drift_) allow_for(what->options().clock_drift);
        if (open && what->wants_tokens()) admissions_->wanted();
        open ? acquisitions_.start(what, t) : acquisitions_.refuse(*what, errc::client_cancelled);
    };
    on_strand(std::move(start), asked);
}

void engine::adopt(adopt_request&& request, lease_handler&& handler)
{
    ticket of;
    if (errc const problem = read_ticket(request.ticket, of); problem != errc{}) return handler(problem, lease{});
    handler.explain([&](failure_note& note) { note.lock = of.text; });
    lock_options options;
    if (request.options) options = *request.options;
    if (!request.options) options.ttl = of.ttl, options.lock_delay = of.lock_delay;
    options.fencing = of.fenced;
    options.token_block = 1;
    if (of.fenced && options.ttl + options.lock_delay > max_ttl_) return handler(errc::ttl_too_long, lease{});

    auto const slot = handler.slot();
    auto what = std::make_shared<adoption>(adoptions_, self(), std::move(of), resolved_options_of(options), std::move(handler), now());
    abandon_on(slot, gives_up, what);
    on_strand([this, what = std::move(what)](time_point t) {
        if (life_ != life::idle && life_ != life::running) return what->refuse(errc::client_cancelled);
        if (!env_.set_was_resized && what->nodes() != env_.set_size) return what->refuse(errc::ticket_of_other_nodes);
        allow_for(what->clock_drift());
        if (what->is_fenced()) admissions_->wanted();
        adoptions_.start(what, t);
    });
}

void engine::ask_permits(permit_query&& what, permits_handler&& handler)
{
    bool const votes = what.version > 0;
    auto const slot = handler.slot();
    auto q = std::make_shared<permit_question>(permit_queries_, std::move(what), std::move(handler));
    abandon_on(slot, gives_up, q);
    on_strand([this, q = std::move(q), votes](time_point t) {
        if (life_ != life::idle && life_ != life::running) return q->abandon(errc::client_cancelled);
        permit_queries_.start(q, t);
        if (votes) admissions_->wanted();
    });
}

std::string engine::detach(std::shared_ptr<lease_state> of)
{
    auto const h = to_handle(std::move(of));
    if (h->phase.load(std::memory_order_acquire) != lease_phase::held || now() >= h->valid_until()) return {};
    if (h->is_of_reader() || h->of().what->is_of_slots()) return {};  // a ticket is of one holder, and knows no number of permits
    auto text = to_text(h->to_ticket(board_.fingerprints()));
    // From this moment on, in whatever thread, nobody here holds it.
    auto expected = lease_phase::held;
    if (!h->phase.compare_exchange_strong(expected, lease_phase::released, std::memory_order_acq_rel)) return {};
    on_strand([this, h] { detach_handle(h); });
    return text;
}

void engine::detach_handle(std::shared_ptr<lease_handle> const& who)
{
    if (!who->is_here()) return;
    auto const what = record_of(who);
    leases_.leave(*who);
    // If other handles are there, they are told that it is lost, and so is the observer.
    if (env_.observed && what->is_lease() && !what->has_handles()) env_.observed->detached(what->told(env_.now()));
    leases_.detach(*what);
    stop_nodes_when_quiet();
}

std::shared_ptr<waiter> engine::wait_for_extension(std::shared_ptr<lease_handle> const& whose, plain_handler&& handler)
{
    return wait_for(whose, std::move(handler), [this](lease_handle const& found, waiter const* who, asio::cancellation_type_t type) {
        if (gives_up(type)) leases_.abandon_extend(found.of(), who);
    });
}

void engine::extend(std::shared_ptr<lease_state>&& of, plain_handler&& handler)
{
    auto h = to_handle(std::move(of));
    auto w = wait_for_extension(h, std::move(handler));
    on_strand([this, h = std::move(h), w = std::move(w)] { leases_.extend(*h, w); });
}

void engine::downgrade(std::shared_ptr<lease_state>&& of, plain_handler&& handler)
{
    auto h = to_handle(std::move(of));
    auto w = wait_for_extension(h, std::move(handler));
    on_strand([this, h = std::move(h), w = std::move(w)](time_point t) {
        if (leases_.downgrade(*h, w)) acquisitions_.on_downgraded(h->of(), t);
    });
}

void engine::publish(std::shared_ptr<lease_state>&& of, std::string&& bytes, plain_handler&& handler)
{
    auto const what = std::make_shared<std::weak_ptr<publish_round>>();
    abandon_later_on(handler.slot(), what);
    struct call {  // a task is small
        std::shared_ptr<lease_handle> by;
        std::string text;
        plain_handler done;
    };
    auto const asked = std::make_shared<call>(call{to_handle(std::move(of)), std::move(bytes), std::move(handler)});
    on_strand([this, what, asked](time_point t) { *what = publications_.publish(*asked->by, asked->text, std::move(asked->done), t); });
}

void engine::inherited(std::shared_ptr<lease_state>&& of, state_handler&& handler)
{
    auto const what = std::make_shared<std::weak_ptr<inherit_round>>();
    abandon_later_on(handler.slot(), what);
    auto start = [this, what, h = to_handle(std::move(of)), done = std::move(handler)](time_point t) mutable {
        *what = publications_.inherit(*h, std::move(done), t);
    };
    on_strand(std::move(start));
}

void engine::peek(peek_request&& request, peek_handler&& handler)
{
    auto const slot = handler.slot();
    auto const what = std::make_shared<peeking>(peeks_, std::move(request), std::move(handler));
    abandon_on(slot, at_any, what);
    on_strand([this, what](time_point t) {
        if (life_ != life::idle && life_ != life::running) return what->abandon(errc::client_cancelled);
        peeks_.start(what, t);
    });
}

void engine::pause(duration min, duration max, plain_handler&& handler)
{
    auto const slot = handler.slot();
    auto const what = std::make_shared<pausing>(pauses_, std::move(handler));
    abandon_on(slot, at_any, what);
    on_strand([this, what, min, max](time_point t) {
        if (life_ != life::idle && life_ != life::running) return what->abandon(errc::client_cancelled);
        pauses_.start(what, min, max, t);
    });
}

void engine::extend_all_on(std::string name)
{
    on_strand([this, which = std::move(name)](time_point t) { leases_.extend_all_on(which, t); });
}

void engine::wait_lost(std::shared_ptr<lease_state>&& of, plain_handler&& handler)
{
    auto h = to_handle(std::move(of));
    auto w = wait_for(h, std::move(handler),
                      [this](lease_handle& found, waiter const* who, asio::cancellation_type_t) { leases_.abandon_wait(found, who); });
    on_strand([this, h = std::move(h), w = std::move(w)] { leases_.wait_lost(*h, w); });
}

void engine::release(std::shared_ptr<lease_state>&& of, plain_handler&& handler)
{
    // From this moment on, in whatever thread, the lease is over.
    auto expected = lease_phase::held;
    of->phase.compare_exchange_strong(expected, lease_phase::released, std::memory_order_acq_rel);

    auto h = to_handle(std::move(of));
    auto w = wait_for(h, std::move(handler), [this](lease_handle const& found, waiter const* who, asio::cancellation_type_t type) {
        if (gives_up(type)) releases_.abandon(found.of(), who);
    });
    on_strand([this, h = std::move(h), w = std::move(w)](time_point t) mutable {
        release_handle(h, t);
        if (h->is != lease_handle::presence::left_as_last) return w->fail(to_error(h->lost_error()), h->loss_reason());
        releases_.wait(h->of(), std::move(w));
    });
}

void engine::let_go(std::shared_ptr<lease_state> of) noexcept
{
    if (closed_) return;
    auto expected = lease_phase::held;
    of->phase.compare_exchange_strong(expected, lease_phase::released, std::memory_order_acq_rel);
    on_strand([this, h = to_handle(std::move(of))](time_point t) { release_handle(h, t); });
}

void engine::release_handle(std::shared_ptr<lease_handle> const& who, time_point t)
{
    if (!who->is_here()) return;
    auto const what = record_of(who);
    leases_.leave(*who);
    if (what->has_handles()) return;  // of nested leases
    if (what->detached) return leases_.let_go(*what);  // another lease of the owner took it away
    if (acquisitions_.hand_over(*what, t)) return;
    who->is = lease_handle::presence::left_as_last;
    leases_.let_go(*what);
    if (env_.observed) env_.observed->release_begins(what->told(t));
    releases_.start(what, t, who->lost_error());
    acquisitions_.on_released(*what, t);
    stop_nodes_when_quiet();
}

// Of other losses the code says everything.
std::string engine::loss_reason_of(lease_state const& of) const
{
    auto const& h = static_cast<lease_handle const&>(of);
    return std::string{h.lost_error() == errc::lease_lost ? h.loss_reason() : std::string_view{}};
}

void engine::scope_ended(lease_state const& of) noexcept
{
    if (of.phase.load() == lease_phase::released) return;
    auto const late = now() - of.valid_until();
    if (late <= duration::zero()) return;
    ++env_.count.overruns;
    if (env_.observed)
        env_.observed->overrun(static_cast<lease_handle const&>(of).of().what, of.token.load(std::memory_order_relaxed), late);
    env_.count.max_overrun_ns.at_least(static_cast<std::uint64_t>(late.count()));
}

}  // namespace redlock::detail
