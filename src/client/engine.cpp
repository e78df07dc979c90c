#include "client/engine.hpp"

#include <boost/asio/error.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/require.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace redlock::detail {

engine::engine(asio::any_io_executor outer, strand_type strand, std::vector<std::unique_ptr<node>> nodes, engine_settings settings,
               fanout::clock_function clock)
    : outer_{std::move(outer)},
      strand_{std::move(strand)},
      posting_{asio::require(*strand_, asio::execution::blocking.never)},
      run_here_{std::move(settings.run_here)},
      single_{settings.single},
      max_ttl_{std::chrono::duration_cast<std::chrono::milliseconds>(settings.max_ttl)},
      keys_{settings.keys}
{
    auto const count = nodes.size();
    for (auto const& n : nodes) {
        node_status_.emplace_back();
        node_status_.back().node = n->name();
        node_status_.back().state = node_state::idle;
        node_status_.back().last_error = errc::client_not_running;
        node_status_.back().last_error_text = "client.run() was not called";
    }
    servers_.resize(count);
    admission_pictures_.resize(count);
    env_.now = clock;
    clock_pictures_.assign(count, node_clock{settings.clock_drift});
    clock_rules const clocks{settings.clock_drift, settings.max_ttl};
    env_.to_nodes = std::make_shared<fanout>(*strand_, std::move(nodes), settings.max_node_queue, clock, clocks);
    env_.to_nodes->on_step = [this](std::size_t node, quorum::clock_step step, time_point now) { on_step(node, step, now); };
    if (single_) env_.to_nodes->complete_together_on(*single_);
    env_.fresh_value = std::move(settings.fresh_value);
    auto fresh_mark = std::move(settings.fresh_mark);
    if (!fresh_mark) fresh_mark = [fresh = env_.fresh_value] { return fresh().text(); };
    env_.jitter.seed(settings.jitter_seed);
    env_.observed = events::make(settings.observer, outer_, node_status_, clock, settings.wall_clock, env_.count);
    if (!env_.observed) env_.outages = outage_log::make(std::move(settings.log), outer_);
    env_.tokens.wall_clock = settings.wall_clock;
    env_.token_retention = std::chrono::duration_cast<std::chrono::milliseconds>(settings.token_retention);
    quorum::admission_settings rules{settings.max_ttl, settings.clock_drift, settings.bootstrap, fresh_mark, settings.wall_clock};
    admissions_.emplace(env_, std::move(rules), count, std::move(settings.quarantines));
    admissions_->on_idle = [this] { stop_nodes_when_quiet(); };
    admissions_->on_change = [this](std::size_t node, admission_picture const& now) {
        if (env_.observed) env_.observed->admission(node, now);
        std::lock_guard const guard{status_mutex_};
        admission_pictures_[node] = now;
    };
    env_.to_nodes->on_suspect = [this](std::size_t node) { admissions_->suspect(node); };
    env_.to_nodes->on_release_retry = [this](time_point at) { env_.set_timer(repetition_, at); };
    releases_.on_idle = [this] { stop_nodes_when_quiet(); };
    adoptions_.is_elsewhere = [this](ticket const& t) { return is_of_other_nodes(t, servers_); };
    leases_.on_lost = [this](lease_record& what) { acquisitions_.on_lost(what); };
}

template <class F>
void engine::on_strand(F f, std::optional<time_point> known)
{
    task what{std::move(f)};
    // Under high contention the mailbox is faster: first all callers run, and then all their tasks, so that the code of each stays in the caches.
    if (run_here_ && !mail_.is_expected() && !env_.to_nodes->is_crowded() && run_here_(what, known ? *known : now(), shared_from_this()))
        return;
    bool const here = single_ && single_->get_executor().running_in_this_thread();
    if (here ? mail_.put_here(std::move(what)) : mail_.put(std::move(what))) send_for_mail();
}

void engine::send_for_mail()
{
    posting_->execute([self = shared_from_this()] {
        self->mail_.open(self->env_.now, [raw = self.get()] { raw->send_for_mail(); });
        if (self->env_.to_nodes) self->env_.to_nodes->flush();  // no other request will come in this turn
    });
}

// Keeps a handler until its operation ends. If the handler can be cancelled, calls `make_cancel` for a function, which runs on the strand when that
// happens.
template <class MakeCancel>
std::shared_ptr<waiter> engine::wait_with(plain_handler&& handler, MakeCancel make_cancel)
{
    auto slot = handler.slot();
    auto const w = make_recycled<waiter>(std::move(handler));
    if (slot.is_connected()) {
        slot.assign([weak = weak_from_this(), who = std::weak_ptr{w}, cancel = make_cancel()](asio::cancellation_type_t type) {
            auto const self = weak.lock();
            if (!self) return;
            self->on_strand([who, cancel, type] {
                if (auto const found = who.lock()) cancel(found.get(), type);
            });
        });
    }
    return w;
}

namespace {

// A `total` cancellation promises that nothing has happened. Requests to the nodes cannot be taken back, so it is ignored.
bool gives_up(asio::cancellation_type_t type)
{
    auto const heeded = asio::cancellation_type::terminal | asio::cancellation_type::partial;
    return (type & heeded) != asio::cancellation_type::none;
}

std::shared_ptr<lease_handle> to_handle(std::shared_ptr<lease_state> of) { return std::static_pointer_cast<lease_handle>(std::move(of)); }

}  // namespace

void engine::run(plain_handler&& handler)
{
    auto const w = wait_with(std::move(handler), [this] { return [this](waiter const*, asio::cancellation_type_t) { stop(); }; });
    on_strand([this, w] {
        if (life_ == life::stopped) return w->done(errc::client_cancelled);
        runners_.push_back(w);
        if (life_ == life::idle) start();
    });
}

void engine::start()
{
    life_ = life::running;
    nodes_running_ = env_.to_nodes->nodes();
    env_.has_run = true;
    {
        std::lock_guard const guard{status_mutex_};
        for (node_status& n : node_status_) {
            n.state = node_state::connecting;
            n.last_error = {};
            n.last_error_text.clear();
        }
    }
    start_watchdog();
    env_.to_nodes->start(weak_from_this());
}

void engine::cancel() noexcept
{
    if (closed_) return;
    on_strand([this] { stop(); });
}

// Ends every operation and lease, then waits a little for the releases that this starts, and for nodes that can be marked or admitted in a moment:
// if all processes live only briefly, no other one would admit them.
void engine::stop()
{
    if (life_ != life::idle && life_ != life::running) return;
    bool const ran = life_ == life::running;
    life_ = life::lingering;
    acquisitions_.fail_all(errc::client_cancelled);
    adoptions_.fail_all(errc::client_cancelled);
    leases_.lose_all(errc::client_cancelled);
    if (!ran) return stop_nodes();
    env_.set_timer(linger_, env_.now() + linger_max);
    stop_nodes_when_quiet();
}

void engine::stop_nodes_when_quiet()
{
    if (life_ == life::lingering && releases_.idle() && leases_.empty() && admissions_->is_idle()) stop_nodes();
}

void engine::stop_nodes()
{
    assert(life_ == life::lingering);
    env_.cancel_timer(linger_);
    life_ = life::stopping;
    if (nodes_running_ > 0) return env_.to_nodes->stop();
    nodes_running_ = 1;  // the nodes were never started: there is nothing to wait for
    on_stopped(0);
}

void engine::on_up(std::size_t node, std::string const& server, quorum::node_facts const& facts)
{
    auto const twin = std::find(servers_.begin(), servers_.end(), server);
    if (!server.empty() && twin != servers_.end()) {
        // A server that is two nodes would have two votes.
        auto const other = static_cast<std::size_t>(twin - servers_.begin());
        return env_.to_nodes->reject(node, errc::node_duplicate,
                                     "this is the same server as " + env_.to_nodes->name(other) + "; each node needs a server of its own");
    }
    {
        std::lock_guard const guard{status_mutex_};
        servers_[node] = server;
        node_status_[node].state = node_state::usable;
        ++node_status_[node].connects;
    }
    if (env_.observed) env_.observed->node_up(node);
    env_.to_nodes->up(node);
    admissions_->up(node, facts);
}

void engine::on_down(std::size_t node, error_code why, std::string const& text)
{
    {
        std::lock_guard const guard{status_mutex_};
        node_status_[node].state = node_state::down;
        node_status_[node].last_error = why;
        node_status_[node].last_error_text = text;
        servers_[node].clear();
    }
    if (env_.observed) env_.observed->node_down(node, why, text);
    env_.to_nodes->down(node, text);
    admissions_->down(node, why);
    acquisitions_.on_down(node);
}

void engine::on_stopped(std::size_t)
{
    assert(life_ == life::stopping && nodes_running_ > 0);
    if (--nodes_running_ > 0) return;
    // Requests that the nodes had not answered have failed by now. Their votes must be filed first.
    on_strand([this] {
        life_ = life::stopped;
        env_.to_nodes->close();
        env_.cancel_timer(repetition_);
        releases_.finish_draining(errc::client_cancelled);
        stop_watchdog();
        runners_.complete_all(errc::client_cancelled);
    });
}

void engine::on_time(std::size_t node, quorum::wall_time clock, quorum::time_point sent, quorum::time_point received)
{
    env_.to_nodes->on_time(node, clock, sent, received);
}

void engine::on_step(std::size_t node, quorum::clock_step step, time_point now)
{
    ++env_.count.clock_steps;
    if (env_.observed) env_.observed->clock_stepped(node, step.at_most, env_.to_nodes->clock_of(node).text(now));
    {
        std::lock_guard const guard{status_mutex_};
        clock_pictures_[node] = env_.to_nodes->clock_of(node);
    }
    leases_.on_step(node, step.at_most, now);
}

void engine::on_changed(std::size_t node, std::string_view key) { acquisitions_.on_changed(node, key); }

void engine::drain(plain_handler&& handler)
{
    auto const w = wait_with(std::move(handler),
                             [this] { return [this](waiter const* who, asio::cancellation_type_t) { releases_.abandon_drain(who); }; });
    on_strand([this, w] {
        if (life_ == life::stopped) return w->done(errc::client_cancelled);
        releases_.drain(w);
    });
}

client_status engine::status() const
{
    client_status s;
    {
        std::lock_guard const guard{status_mutex_};
        s.nodes = node_status_;
        auto const t = now();
        for (std::size_t i = 0; i < s.nodes.size(); ++i) {
            s.nodes[i].admission = admission_pictures_[i].state;
            bool const is_away = s.nodes[i].state == node_state::down && admission_pictures_[i].state == admission_state::unknown;
            s.nodes[i].admission_text = is_away ? "it is not connected: " + s.nodes[i].last_error_text : admission_pictures_[i].text(t);
            node_clock const& clock = clock_pictures_[i];
            s.nodes[i].clock_steps = clock.steps();
            s.nodes[i].last_clock_step = std::chrono::duration_cast<std::chrono::milliseconds>(clock.last_step());
            s.nodes[i].clock_text = clock.text(t);
        }
    }
    s.counters = env_.count.snapshot();
    s.leases = env_.count.leases.get();
    s.waiting = env_.count.waiting.get();
    s.releases_pending = env_.count.releases_pending.get();
    return s;
}

void engine::begin_admission()
{
    on_strand([this] {
        if (life_ == life::idle || life_ == life::running) admissions_->wanted();
    });
}

std::shared_ptr<resolved_options const> engine::resolved_options_of(lock_options const& options)
{
    std::lock_guard const guard{terms_mutex_};
    if (!last_options_ || last_options_->options != options)
        last_options_ = std::make_shared<resolved_options const>(options, env_.token_retention);
    return last_options_;
}

void engine::acquire(acquire_request&& request, lease_handler&& handler)
{
    auto slot = handler.slot();
    auto const asked = now();
    auto what = make_recycled<acquisition>(acquisitions_, shared_from_this(), std::move(request), std::move(handler), asked);
    if (slot.is_connected()) {
        slot.assign([weak = weak_from_this(), op = std::weak_ptr{what}](asio::cancellation_type_t type) {
            auto const self = weak.lock();
            if (!self) return;
            self->on_strand([raw = self.get(), op, type] {
                if (auto const found = op.lock()) raw->acquisitions_.cancel(*found, type);
            });
        });
    }
    auto start = [this, what = std::move(what)](time_point t) {
        bool const open = life_ == life::idle || life_ == life::running;
        if (open && what->wants_tokens()) admissions_->wanted();
        open ? acquisitions_.start(what, t) : acquisitions_.refuse(*what, errc::client_cancelled);
    };
    on_strand(std::move(start), asked);
}

void engine::adopt(adopt_request&& request, lease_handler&& handler)
{
    ticket of;
    if (errc const problem = read_ticket(request.ticket, of); problem != errc{}) return handler(problem, lease{});
    if (of.nodes != servers_.size()) return handler(errc::ticket_of_other_nodes, lease{});
    lock_options options;
    if (request.options) options = *request.options;
    if (!request.options) options.ttl = of.ttl, options.lock_delay = of.lock_delay;
    options.fencing = of.fenced;
    options.token_block = 1;
    if (of.fenced && options.ttl + options.lock_delay > max_ttl_) return handler(errc::ttl_too_long, lease{});

    auto slot = handler.slot();
    auto what = std::make_shared<adoption>(adoptions_, shared_from_this(), std::move(of), resolved_options_of(options), std::move(handler),
                                           now());
    if (slot.is_connected()) {
        slot.assign([weak = weak_from_this(), op = std::weak_ptr{what}](asio::cancellation_type_t type) {
            auto const self = weak.lock();
            if (!self || !gives_up(type)) return;
            self->on_strand([op] {
                if (auto const found = op.lock()) found->give_up(asio::error::operation_aborted);
            });
        });
    }
    on_strand([this, what = std::move(what)](time_point t) {
        if (life_ != life::idle && life_ != life::running) return what->refuse(errc::client_cancelled);
        if (what->is_fenced()) admissions_->wanted();
        adoptions_.start(what, t);
    });
}

std::string engine::detach(std::shared_ptr<lease_state> of)
{
    auto const h = to_handle(std::move(of));
    if (h->phase.load(std::memory_order_acquire) != lease_phase::held || now() >= h->valid_until()) return {};
    if (h->is_of_reader()) return {};  // a ticket is of one holder
    lease_record const& r = h->of;
    ticket t;
    t.keys.push_back(r.what->first());
    t.keys.insert(t.keys.end(), r.what->others().begin(), r.what->others().end());
    t.text = r.what->text();
    t.value = r.value.text();
    t.fenced = r.is_fenced();
    t.guard = t.fenced ? r.guard() : 0;
    t.token = h->token.load(std::memory_order_relaxed);
    t.last_token = std::max(h->last_token, t.token);
    t.ttl = std::chrono::duration_cast<std::chrono::milliseconds>(r.what->under->times.ttl);
    t.lock_delay = r.what->under->key_ttl - t.ttl;
    t.nodes = static_cast<std::uint8_t>(h->nodes());
    {
        std::lock_guard const guard{status_mutex_};
        for (std::string const& each : servers_)
            if (!each.empty()) t.servers.push_back(fingerprint(each));
    }
    auto text = to_text(t);
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
    if (env_.observed && what->is_lease() && !what->has_handles()) env_.observed->detached(*what);
    leases_.detach(*what);
    stop_nodes_when_quiet();
}

void engine::extend(std::shared_ptr<lease_state>&& of, plain_handler&& handler)
{
    auto h = to_handle(std::move(of));
    auto w = wait_with(std::move(handler), [this, &h] {
        return [this, weak = std::weak_ptr{h}](waiter const* who, asio::cancellation_type_t type) {
            if (auto const found = weak.lock(); found && gives_up(type)) leases_.abandon_extend(found->of, who);
        };
    });
    on_strand([this, h = std::move(h), w = std::move(w)] { leases_.extend(*h, w); });
}

void engine::downgrade(std::shared_ptr<lease_state>&& of, plain_handler&& handler)
{
    auto h = to_handle(std::move(of));
    auto w = wait_with(std::move(handler), [this, &h] {
        return [this, weak = std::weak_ptr{h}](waiter const* who, asio::cancellation_type_t type) {
            if (auto const found = weak.lock(); found && gives_up(type)) leases_.abandon_extend(found->of, who);
        };
    });
    on_strand([this, h = std::move(h), w = std::move(w)](time_point t) {
        if (leases_.downgrade(*h, w)) acquisitions_.on_downgraded(h->of, t);
    });
}

void engine::extend_all_on(std::string name)
{
    on_strand([this, which = std::move(name)](time_point t) { leases_.extend_all_on(which, t); });
}

void engine::wait_lost(std::shared_ptr<lease_state>&& of, plain_handler&& handler)
{
    auto h = to_handle(std::move(of));
    auto w = wait_with(std::move(handler), [this, &h] {
        return [this, weak = std::weak_ptr{h}](waiter const* who, asio::cancellation_type_t) {
            if (auto const found = weak.lock()) leases_.abandon_wait(*found, who);
        };
    });
    on_strand([this, h = std::move(h), w = std::move(w)] { leases_.wait_lost(*h, w); });
}

void engine::release(std::shared_ptr<lease_state>&& of, plain_handler&& handler)
{
    // From this moment on, in whatever thread, the lease is over.
    auto expected = lease_phase::held;
    of->phase.compare_exchange_strong(expected, lease_phase::released, std::memory_order_acq_rel);

    auto h = to_handle(std::move(of));
    auto w = wait_with(std::move(handler), [this, &h] {
        return [this, weak = std::weak_ptr{h}](waiter const* who, asio::cancellation_type_t type) {
            if (auto const found = weak.lock(); found && gives_up(type)) releases_.abandon(found->of, who);
        };
    });
    on_strand([this, h = std::move(h), w = std::move(w)](time_point t) mutable {
        release_handle(h, t);
        if (h->is != lease_handle::presence::left_as_last) return w->done(to_error(h->lost_error()));
        releases_.wait(h->of, std::move(w));
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
    if (env_.observed) env_.observed->release_begins(*what);
    releases_.start(what, t, who->lost_error());
    acquisitions_.on_released(*what, t);
    stop_nodes_when_quiet();
}

void engine::scope_ended(lease_state const& of) noexcept
{
    if (of.phase.load() == lease_phase::released) return;
    auto const late = now() - of.valid_until();
    if (late <= duration::zero()) return;
    ++env_.count.overruns;
    if (env_.observed) env_.observed->overrun(of, late);
    env_.count.overrun_max_ns.at_least(static_cast<std::uint64_t>(late.count()));
}

// Destroys everything that keeps a handler or belongs to the context. Handlers may own leases and clients; their destructors see `closed_` and do
// nothing.
void engine::context_destroyed() noexcept
{
    auto const self = shared_from_this();
    closed_ = true;
    mail_.clear();
    if (env_.observed) env_.observed->close();
    env_.pending.clear();
    admissions_->clear();
    destroy_watchdog();
    auto const runners = std::move(runners_);
    acquisitions_.clear();
    adoptions_.clear();
    leases_.clear();
    releases_.clear();
    env_.to_nodes->clear();
    env_.to_nodes.reset();
    env_.outages.reset();
    run_here_ = nullptr;
    posting_.reset();
    strand_.reset();
    outer_ = {};
}

}  // namespace redlock::detail
