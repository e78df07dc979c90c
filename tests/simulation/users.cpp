#include "users.hpp"

#include "link.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/experimental/parallel_group.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <tuple>

namespace redlock::simulation {

namespace {

constexpr auto as_result = asio::as_tuple(asio::use_awaitable);

// Emits a cancellation after a while, unless it is gone by then.
class canceller {
public:
    canceller(asio::any_io_executor const& on, duration after, asio::cancellation_type_t type) : timer_{on, after} { wait(type); }
    asio::cancellation_slot slot() const { return signal_->slot(); }

    // At another time than was planned.
    void rather_after(duration after, asio::cancellation_type_t type)
    {
        timer_.expires_after(after);
        wait(type);
    }

private:
    void wait(asio::cancellation_type_t type)
    {
        timer_.async_wait([signal = signal_, type](error_code ec) {
            if (!ec) signal->emit(type);
        });
    }

    std::shared_ptr<asio::cancellation_signal> signal_ = std::make_shared<asio::cancellation_signal>();
    timer timer_;
};

}  // namespace

asio::awaitable<void> sleep(duration d)
{
    timer t{co_await asio::this_coro::executor, d};
    auto wait = t.async_wait(asio::use_awaitable);
    co_await std::move(wait);
}

void user::go(std::size_t actions) { spawn(work(actions), nullptr); }

void user::call(std::function<void()> then) { spawn(take_once(), std::move(then)); }

void user::spawn(asio::awaitable<void> what, std::function<void()> then)
{
    ++stage_.at_work;
    at_work_ = true;
    asio::co_spawn(process_.get_executor(), std::move(what), [this, then = std::move(then)](std::exception_ptr failure) {
        --stage_.at_work;
        at_work_ = false;
        if (then) then();
        if (!failure) return;
        try {
            std::rethrow_exception(failure);
        } catch (std::exception const& e) {
            stage_.rules.violation(std::string{"a user was surprised: "} + e.what());
        }
    });
}

asio::awaitable<void> user::work(std::size_t actions)
{
    auto start = sleep(stage_.world.chance.scaled(stage_.hold_max));
    co_await std::move(start);
    for (std::size_t i = 0; i < actions && client_; ++i) {
        auto action = act();
        co_await std::move(action);
    }
}

asio::awaitable<void> user::act()
{
    if (stage_.travels && stage_.world.chance.one_in(2)) return stage_.world.chance.one_in(2) ? send_off() : pick_up();
    if (stage_.permits > 0 && !stage_.world.chance.one_in(6)) return count();
    if (stage_.shares && !stage_.world.chance.one_in(5)) return share();
    if (stage_.states && !stage_.world.chance.one_in(5)) return publish_and_inherit();
    if (stage_.queues && stage_.world.chance.one_in(2)) return stand_in_line();
    switch (stage_.world.chance.below(16)) {
    case 0:
    case 1: return hold_for_a_while();
    case 2: return with_callbacks();
    case 3: return give_up_waiting();
    case 4: return extend_by_hand();
    case 5: return wait_for_loss();
    case 6:
    case 7:
    case 8: return in_a_scope();
    case 9:
    case 10: return sit_it_out();
    case 11: return stage_.world.chance.one_in(2) ? ask_as_one_owner() : nest();
    case 12: return stand_in_line();
    default: return be_a_rival();
    }
}

lock_options user::choose_options()
{
    auto& chance = stage_.world.chance;
    auto o = stage_.usual;
    auto const in_ms = [](duration d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d); };
    if (chance.one_in(4)) o.stop_margin = in_ms(chance.between(0ms, o.ttl / 3));
    auto const away = stage_.world.between(process_, *stage_.world.servers().front()).distance;
    auto const round_trip = std::max<duration>(2 * (stage_.world.weather.delay_max + away), 500us);
    if (chance.one_in(4)) o.node_timeout = std::min(o.ttl, std::max(1ms, in_ms(2 * round_trip + chance.scaled(o.ttl))));
    if (chance.one_in(6)) o.acquire_timeout = std::max(1ms, in_ms(chance.scaled(2 * o.ttl)));
    if (chance.one_in(6)) o.max_attempts = static_cast<std::uint32_t>(1 + chance.below(5));
    if (chance.one_in(12)) o.max_hold = std::max(1ms, in_ms(chance.scaled(o.ttl)));
    return o;
}

redlock::lock user::choose_lock(lock_options options)
{
    auto& chance = stage_.world.chance;
    options.fencing = stage_.of_locks == kinds::with_tokens || (stage_.of_locks == kinds::mixed && chance.one_in(2));
    if (options.fencing && chance.one_in(2)) options.token_block = static_cast<std::uint32_t>(1 + chance.below(stage_.block_max));
    auto const& names = stage_.names;
    auto const first = chance.below(names.size());
    if (names.size() == 1 || !chance.one_in(3)) return redlock::lock{*client_, names[first], options};
    std::vector<std::string> several;  // in any order
    for (std::size_t n = 2 + chance.below(names.size() - 1); n > 0; --n) several.push_back(names[(first + n) % names.size()]);
    return redlock::lock{*client_, several, options};
}

redlock::lock user::choose_lock() { return choose_lock(choose_options()); }

duration user::time_to_hold() { return stage_.world.chance.scaled(stage_.hold_max); }

void user::say(std::string text)
{
    if (stage_.world.records) stage_.world.records->say(process_.index(), stage_.world.now(), std::move(text));
}

void user::expect(error_code ec, std::initializer_list<error_code> allowed, char const* operation)
{
    if (stage_.world.records) say(std::string{operation} + ": " + (ec ? ec.message() : "done"));
    if (!ec || std::find(allowed.begin(), allowed.end(), ec) != allowed.end()) return;
    if (ec == errc::wrong_node_set && stage_.world.has_two_sets()) return;
    stage_.rules.violation(std::string{operation} + " completed with an error that it does not document for this case: " + ec.message());
}

bool user::acquired(error_code ec, lock_options const& options, duration since, attempt_report const* report)
{
    auto& covered = *stage_.world.covered;
    expect(ec,
           {errc::contended, errc::no_majority, errc::validity_exhausted, errc::acquire_timed_out, errc::acquire_timed_out_no_majority,
            errc::client_cancelled, asio::error::operation_aborted, stage_.permits > 0 ? errc::permits_differ : errc::contended},
           "acquire");
    if (ec == errc::permits_differ) ++covered.permits_differ;
    if (ec == errc::acquire_timed_out) ++covered.acquire_timed_out;
    if (ec == errc::acquire_timed_out_no_majority) ++covered.acquire_timed_out_no_majority;
    if (options.acquire_timeout) {
        duration const deadline = *options.acquire_timeout;
        duration const most = deadline + deadline / 500 + 1us;  // clocks differ by 0.1 %
        duration const took = stage_.world.now() - since;
        if (took > most + stage_.world.paused_between(process_, since, stage_.world.now()))
            stage_.rules.violation("acquire completed " + std::to_string((took - most).count()) + " ns after its deadline");
    }
    if (report) {
        auto const granted = [](node_verdict const& v) { return v.vote == vote::granted; };
        auto const failed = [](node_verdict const& v) { return v.vote == vote::failed; };
        bool const somebody_failed = std::any_of(report->nodes.begin(), report->nodes.end(), failed);
        if (!ec && report->attempts > 1) ++covered.acquired_on_retry;
        if (!ec && somebody_failed) ++covered.acquired_with_a_failed_node;
        if (ec == errc::contended && std::any_of(report->nodes.begin(), report->nodes.end(), granted)) ++covered.split_votes;
        if (ec == errc::contended && !report->nodes.empty() && report->nodes.front().detail.starts_with("not asked"))
            ++covered.rejected_locally;
    }
    return !ec;
}

// Of those who wait as long as it takes. A nested lease is for an owner who has his turn already.
std::unique_ptr<judge::place> user::place_for(redlock::lock const& resource) const
{
    auto const& options = resource.options();
    if (options.max_attempts > 0 || options.owner != owner_id{}) return nullptr;
    return std::make_unique<judge::place>(stage_.rules, process_, resource.name());
}

std::unique_ptr<judge::place> user::place_for(redlock::rw_lock const& resource, bool reads) const
{
    if (resource.options().max_attempts > 0) return nullptr;
    return std::make_unique<judge::place>(stage_.rules, process_, resource.name(), reads ? judge::wants::to_read : judge::wants::to_write);
}

// Acquires, and looks at what came of it; an empty lease if nothing did.
asio::awaitable<lease> user::take(redlock::lock const& resource, bool once, attempt_report* report)
{
    attempt_report unread;
    attempt_report& written = report ? *report : unread;
    stage_.rules.started(process_);
    auto const begin = stage_.world.now();
    auto const place = once ? nullptr : place_for(resource);
    auto acquire = once ? resource.try_acquire(written, as_result) : resource.acquire(written, as_result);
    auto result = co_await std::move(acquire);
    stage_.rules.ended(process_);
    auto& [ec, held] = result;
    if (place && held) place->served(held);
    if (held && stage_.world.now() == begin && held.valid_until() < simulated_clock::now())
        stage_.rules.violation("acquire handed out at once a lease that had ended");
    if (acquired(ec, resource.options(), begin, report) != static_cast<bool>(held))
        stage_.rules.violation("acquire completed with an error and a lease, or with neither");
    co_return std::move(held);
}

// Works for a while. As long as nothing else is acquired, what the client counts about extensions is about this lease.
asio::awaitable<void> user::work_and_watch_extensions(duration work_for)
{
    auto const begin = client_ ? client_->status() : client_status{};
    auto seen = begin.counters;
    bool unknown = false;
    for (int slice = 0; slice < 4; ++slice) {
        auto rest = sleep(work_for / 4);
        co_await std::move(rest);
        if (!client_ || begin.leases != 1) continue;
        auto const now = client_->status().counters;
        if (now.acquired != begin.counters.acquired) continue;
        if (unknown && now.extensions_renewed > seen.extensions_renewed) ++stage_.world.covered->unknown_then_renewed;
        unknown = now.extensions_unknown > seen.extensions_unknown;
        seen = now;
    }
}

// Uses what the lock protects, once or with several tokens.
void user::write(judge::watched& watched)
{
    auto& chance = stage_.world.chance;
    watched.write();
    if (stage_.block_max == 1) return;
    for (std::size_t more = chance.below(4); more > 0; --more) {
        watched.next_token();
        if (chance.one_in(2)) watched.write();
    }
}

// Gives the lease back in one of the ways there are.
asio::awaitable<void> user::end_holding(lease held, judge::watched& watched)
{
    auto& covered = *stage_.world.covered;
    struct late_writer {
        user& self;
        judge::watched& watched;
        ~late_writer()
        {
            if (!self.stage_.world.is_dead(self.process_)) watched.write();
        }
    } const guard{*this, watched};
    if (auto const why = held.lost_error(); why && why != errc::client_cancelled) watched.lost(why);
    watched.leaves(held);
    if (stage_.world.chance.one_in(4)) {
        ++covered.released_by_destructor;
        co_return;
    }
    bool const was_valid = held.valid();
    stage_.rules.started(process_);
    auto release = held.release(as_result);
    auto const [ec] = co_await std::move(release);
    stage_.rules.ended(process_);
    expect(ec, {errc::lease_lost, errc::max_hold_exceeded, errc::release_unconfirmed, errc::client_cancelled}, "release");
    if (ec == errc::lease_lost && was_valid && stage_.calm)
        stage_.rules.violation("a valid lease turned out to be lost at its release, and no fault happened");
    if (held.valid()) stage_.rules.violation("a released lease says that it is valid");
}

asio::awaitable<void> user::hold_for_a_while()
{
    auto const resource = choose_lock();
    attempt_report report;
    bool const once = stage_.world.chance.one_in(3);
    auto taking = take(resource, once, &report);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    auto rest = work_and_watch_extensions(time_to_hold());
    co_await std::move(rest);
    // The lease object moves; the judge goes on looking at the one that it knows, which is empty from here on.
    write(watched);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

asio::awaitable<void> user::take_once()
{
    auto const resource = choose_lock();
    attempt_report report;
    auto taking = take(resource, true, &report);
    lease held = co_await std::move(taking);
    if (report.outcome == errc::contended) ++stage_.world.covered->visitor_contended;
    if (!held) co_return;
    ++stage_.world.covered->visitor_acquired;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    auto rest = sleep(time_to_hold());
    co_await std::move(rest);
    write(watched);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

// Detaches the lease. Whoever picks up its ticket goes on with it. False: it is held here as before.
bool user::detach(lease& held, judge::watched& watched, lock_options const& options)
{
    bool const was_valid = held.valid();
    std::string const name{held.name()};
    judge::ticket t{
        {}, watched.lineage(), watched.next_of_block(), watched.last_of_block(), options, process_.clock.when(held.valid_until())};
    watched.leaves(held);
    auto const& climbs = stage_.world.climbs_unheard;
    auto const climb = climbs.find({&process_, name});
    t.is_climbing = climb != climbs.end() && climb->second > 0;
    t.text = held.detach();
    say("detach " + name + (t.text.empty() ? ": it is over" : ""));
    if (t.text.empty() == was_valid) stage_.rules.violation("a valid lease has no ticket, or one that is over has one");
    if (t.text.empty()) return false;
    if (held) stage_.rules.violation("a lease is not empty after detach()");
    ++stage_.world.covered->detached;
    stage_.rules.travels(t.text);
    stage_.tickets.push_back(std::move(t));
    return true;
}

asio::awaitable<void> user::send_off()
{
    auto const resource = choose_lock();
    auto taking = take(resource);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    auto rest = sleep(time_to_hold());
    co_await std::move(rest);
    write(watched);
    if (detach(held, watched, resource.options())) {
        if (stage_.world.chance.one_in(4)) watched.write();  // late, which its token does not forbid
        co_return;
    }
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

// Adopts what somebody has detached; its ticket may stay there for others.
asio::awaitable<void> user::pick_up()
{
    auto& chance = stage_.world.chance;
    if (stage_.tickets.empty()) {
        auto sending = send_off();
        co_await std::move(sending);
        co_return;
    }
    auto const which = static_cast<std::ptrdiff_t>(chance.below(stage_.tickets.size()));
    judge::ticket const ticket = stage_.tickets[static_cast<std::size_t>(which)];
    if (chance.one_in(2)) stage_.tickets.erase(stage_.tickets.begin() + which);

    auto options = choose_options();
    options.max_attempts = 0;
    options.fencing = ticket.options.fencing;
    options.token_block = ticket.options.token_block;
    auto const executor = co_await asio::this_coro::executor;
    std::optional<canceller> gives_up;
    if (chance.one_in(5)) gives_up.emplace(executor, chance.scaled(options.ttl), asio::cancellation_type::terminal);
    asio::cancellation_signal nobody;
    auto const begin = stage_.world.now();
    // Without faults, who comes in time adopts, if nobody else tries: two may split the nodes. (A process that is paused is a fault.) A climb that was
    // under way raises the counters above the ticket's guard.
    bool const may_expect_it = stage_.calm && !gives_up && !ticket.is_climbing && ticket.until - begin > duration{options.ttl} / 2;
    stage_.rules.is_tried(ticket);
    stage_.rules.started(process_);
    auto adopting = client_->adopt(ticket.text, options,
                                   asio::bind_cancellation_slot(gives_up ? gives_up->slot() : nobody.slot(), as_result));
    auto result = co_await std::move(adopting);
    stage_.rules.ended(process_);
    auto& [ec, held] = result;
    expect(ec, {errc::lease_lost, errc::no_majority, errc::client_cancelled, asio::error::operation_aborted}, "adopt");
    auto& covered = *stage_.world.covered;
    if (ec == errc::lease_lost) ++covered.adoption_over;
    if (ec == errc::no_majority) ++covered.adoption_unknown;
    if (ec == asio::error::operation_aborted) ++covered.adoption_cancelled;
    if (static_cast<bool>(held) == static_cast<bool>(ec))
        stage_.rules.violation("adopt completed with an error and a lease, or with neither");
    if (may_expect_it && ec == errc::lease_lost && stage_.rules.times_tried(ticket) == 1)
        stage_.rules.violation("the only one who adopts a lease, and in time, is told that it is over: " + ticket.lineage);
    if (!held) co_return;
    ++covered.adopted;
    if (options.node_timeout && stage_.world.now() - begin > *options.node_timeout) ++covered.adopted_late;
    judge::watched watched{stage_.rules, process_, held, options, &ticket};
    write(watched);
    auto rest = sleep(time_to_hold());
    co_await std::move(rest);
    write(watched);
    if (chance.one_in(3) && detach(held, watched, options)) co_return;
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

// The same without coroutines: what is kept lives in the handlers.
asio::awaitable<void> user::with_callbacks()
{
    struct holding {
        explicit holding(redlock::lock const& l) : resource{l} {}
        redlock::lock resource;
        std::unique_ptr<judge::place> place;
        lease held;
        std::optional<judge::watched> watched;
        std::optional<timer> rest;
        bool done{false};
    };
    auto const state = std::make_shared<holding>(choose_lock());
    auto const executor = co_await asio::this_coro::executor;
    timer finished{executor};
    finished.expires_at(time_point::max());
    stage_.rules.started(process_);
    state->place = place_for(state->resource);
    state->resource.acquire([this, state, executor, &finished, begin = stage_.world.now()](error_code ec, lease got) {
        stage_.rules.ended(process_);
        if (!acquired(ec, state->resource.options(), begin, nullptr)) {
            state->place.reset();
            state->done = true;
            return finished.cancel();
        }
        state->held = std::move(got);
        if (state->place) state->place->served(state->held);
        state->place.reset();
        state->watched.emplace(stage_.rules, process_, state->held, state->resource.options());
        write(*state->watched);
        state->rest.emplace(executor, time_to_hold());
        state->rest->async_wait([this, state, &finished](error_code) {
            stage_.rules.started(process_);
            state->watched->leaves(state->held);
            state->held.release([this, state, &finished](error_code result) {
                stage_.rules.ended(process_);
                expect(result, {errc::lease_lost, errc::max_hold_exceeded, errc::release_unconfirmed, errc::client_cancelled}, "release");
                state->watched.reset();
                state->done = true;
                finished.cancel();
            });
        });
    });
    while (!state->done) {
        auto wait = finished.async_wait(as_result);
        co_await std::move(wait);
    }
}

asio::awaitable<void> user::give_up_waiting()
{
    auto const resource = choose_lock();
    auto waiting = give_up_waiting_for(resource);
    co_await std::move(waiting);
}

asio::awaitable<void> user::give_up_waiting_for(redlock::lock const& resource)
{
    auto& chance = stage_.world.chance;
    auto& covered = *stage_.world.covered;
    auto const type = chance.pick(
        std::array{asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal});
    auto const executor = co_await asio::this_coro::executor;
    canceller soon{executor, chance.scaled(stage_.usual.ttl), type};
    bool const at_once = chance.one_in(3);
    std::optional<canceller> in_flight;
    if (at_once) in_flight.emplace(executor, chance.between(0ns, 2 * stage_.world.weather.delay_max), type);
    stage_.rules.started(process_);
    auto const begin = stage_.world.now();
    auto const place = place_for(resource);
    auto acquire = resource.acquire(asio::bind_cancellation_slot(at_once ? in_flight->slot() : soon.slot(), as_result));
    auto result = co_await std::move(acquire);
    stage_.rules.ended(process_);
    auto& [ec, held] = result;
    if (place && held) place->served(held);
    if (ec == asio::error::operation_aborted) {
        if (type == asio::cancellation_type::total) ++covered.cancelled_total;
        if (type == asio::cancellation_type::partial) ++covered.cancelled_partial;
        if (type == asio::cancellation_type::terminal) ++covered.cancelled_terminal;
    }
    if (!acquired(ec, resource.options(), begin, nullptr)) co_return;
    if (type == asio::cancellation_type::total) ++covered.cancelled_but_won;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    write(watched);
    if (resource.options().owner != owner_id{}) {  // so that the judge sees who is nested in it
        auto rest = sleep(1us);
        co_await std::move(rest);
    }
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

asio::awaitable<void> user::extend_by_hand()
{
    auto options = stage_.usual;
    options.auto_extend = false;
    auto const resource = choose_lock(options);
    auto taking = take(resource);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    for (std::size_t i = 1 + stage_.world.chance.below(3); i > 0; --i) {
        auto rest = sleep(stage_.world.chance.between(0ns, options.ttl));
        co_await std::move(rest);
        stage_.rules.started(process_);
        auto extend = held.extend(as_result);
        auto const [failure] = co_await std::move(extend);
        stage_.rules.ended(process_);
        expect(failure, {errc::no_majority, errc::lease_lost, errc::client_cancelled}, "extend");
        if (!failure) ++stage_.world.covered->extended_by_caller;
    }
    write(watched);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

// What is sent now reaches one server, and the others later or never.
void user::cut_off_but_one()
{
    auto& world = stage_.world;
    auto const only = world.chance.below(world.servers().size());
    for (auto const& s : world.servers()) {
        if (s->index() == only) continue;
        auto& link = world.between(process_, *s);
        link.unreachable = true;
        link.go_silent(true);
    }
    world.after(world.chance.scaled(2 * stage_.usual.ttl), [&world, client = process_.index(), only] {
        if (!world.processes()[client]) return;
        for (auto const& s : world.servers())
            if (s->index() != only) world.between(*world.processes()[client], *s).heal();
    });
}

asio::awaitable<void> user::publish(lease& held)
{
    if (!stage_.calm && stage_.world.chance.one_in(4)) cut_off_but_one();
    auto& covered = *stage_.world.covered;
    auto const begin = stage_.world.now();
    auto const version = stage_.states->next(held.token());
    stage_.rules.started(process_);
    auto publishing = held.publish(state_judge::bytes_of(version), as_result);
    auto const [ec] = co_await std::move(publishing);
    stage_.rules.ended(process_);
    expect(ec, {errc::no_majority, errc::lease_lost, errc::max_hold_exceeded, errc::not_held, errc::client_cancelled}, "publish");
    if (ec == errc::no_majority) ++covered.publication_unknown;
    if (ec) co_return;
    ++covered.published;
    stage_.states->published(std::string{held.name()}, version, begin);
}

asio::awaitable<void> user::inherit(lease& held)
{
    auto& covered = *stage_.world.covered;
    auto const begin = stage_.world.now();
    auto const token = held.token();
    stage_.rules.started(process_);
    auto asking = held.inherited(as_result);
    auto const [ec, state] = co_await std::move(asking);
    stage_.rules.ended(process_);
    expect(ec, {errc::no_majority, errc::lease_lost, errc::max_hold_exceeded, errc::not_held, errc::client_cancelled}, "inherited");
    if (ec && state) stage_.rules.violation("inherited() completed with an error and a state");
    if (ec) co_return;
    if (state && state.token != token) ++covered.inherited;
    stage_.states->inherited(std::string{held.name()}, token, state, begin);
}

asio::awaitable<void> user::look_at(redlock::lock const& resource)
{
    auto const executor = co_await asio::this_coro::executor;
    stage_.rules.started(process_);
    auto looking = resource.peek(as_result);
    auto const [ec, seen] = co_await std::move(looking);
    stage_.rules.ended(process_);
    expect(ec, {errc::no_majority, errc::client_cancelled}, "peek");
    if (ec) co_return;
    ++stage_.world.covered->peeked;
    canceller enough{executor, time_to_hold(), asio::cancellation_type::terminal};
    stage_.rules.started(process_);
    auto waiting = resource.wait_changed(seen, asio::bind_cancellation_slot(enough.slot(), as_result));
    auto const [why, news] = co_await std::move(waiting);
    stage_.rules.ended(process_);
    expect(why, {errc::client_cancelled, asio::error::operation_aborted}, "wait_changed");
    if (why) co_return;
    ++stage_.world.covered->change_seen;
    if (news == seen) stage_.rules.violation("wait_changed() completed, and nothing has changed");
}

// Of a lock with one name and tokens. Some do not ask what they inherit, and some publish while somebody else has the lock by then.
asio::awaitable<void> user::publish_and_inherit()
{
    auto& chance = stage_.world.chance;
    auto options = choose_options();
    options.fencing = true;
    redlock::lock const resource{*client_, stage_.names[chance.below(stage_.names.size())], options};
    if (chance.one_in(4)) {
        auto looking = look_at(resource);
        co_await std::move(looking);
        if (!client_) co_return;
    }
    auto taking = take(resource);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    if (!chance.one_in(4)) {
        auto asking = inherit(held);
        co_await std::move(asking);
    }
    for (std::size_t n = chance.below(4); n > 0; --n) {
        auto publishing = publish(held);
        co_await std::move(publishing);
        auto rest = sleep(chance.one_in(3) ? time_to_hold() : chance.scaled(10ms));
        co_await std::move(rest);
    }
    if (chance.one_in(4)) {
        auto asking = inherit(held);
        co_await std::move(asking);
    }
    write(watched);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

asio::awaitable<void> user::wait_for_loss()
{
    auto const resource = choose_lock();
    auto taking = take(resource);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    auto const executor = co_await asio::this_coro::executor;
    canceller enough{executor, time_to_hold(), asio::cancellation_type::terminal};
    stage_.rules.started(process_);
    auto wait = held.wait_lost(asio::bind_cancellation_slot(enough.slot(), as_result));
    auto const [why] = co_await std::move(wait);
    stage_.rules.ended(process_);
    expect(why, {errc::lease_lost, errc::max_hold_exceeded, errc::client_cancelled, asio::error::operation_aborted}, "wait_lost");
    if (why == errc::max_hold_exceeded) ++stage_.world.covered->max_hold_exceeded;
    if (why == condition::lost) {
        ++stage_.world.covered->waited_for_loss;
        if (held.valid()) stage_.rules.violation("wait_lost completed, and the lease says that it is valid");
    }
    write(watched);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

// Believes its lease to the last moment, and lets it end.
asio::awaitable<void> user::sit_it_out()
{
    auto options = stage_.usual;
    options.auto_extend = false;
    options.stop_margin = 0ms;
    if (stage_.world.chance.one_in(2)) options.node_timeout = options.ttl / 2;
    auto const resource = choose_lock(options);
    auto taking = take(resource, true);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    if (!held.valid() && stage_.world.paused_between(process_, stage_.world.now() - 1us, stage_.world.now()) == 0ns)
        stage_.rules.violation("acquire handed out a lease that had ended");
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    for (int looks = 0; held.valid() && looks < 100; ++looks) {
        auto rest = sleep(held.valid_until() - simulated_clock::now());
        co_await std::move(rest);
    }
    if (stage_.world.chance.one_in(2)) {
        stage_.rules.started(process_);
        auto extend = held.extend(as_result);
        auto const [too_late] = co_await std::move(extend);
        stage_.rules.ended(process_);
        if (!too_late) stage_.rules.violation("a lease was extended after its end");
    }
    write(watched);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

asio::awaitable<void> user::in_a_scope()
{
    auto& chance = stage_.world.chance;
    auto& covered = *stage_.world.covered;
    auto const resource = choose_lock();
    enum class manner { heeds, ignores, throws };
    auto const how = chance.one_in(4) ? manner::ignores : chance.one_in(6) ? manner::throws : manner::heeds;
    auto const work_for = time_to_hold();
    struct outcome {
        std::string value;
        duration body_over{};
        bool entered{false};
        bool finished{false};
        bool left{false};
        std::uint64_t handoffs{0};
    };
    outcome seen;
    auto const executor = co_await asio::this_coro::executor;
    bool const cancelled_by_caller = chance.one_in(3);
    bool const while_releasing = cancelled_by_caller && chance.one_in(2);
    auto const type = chance.pick(
        std::array{asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal});
    canceller caller{executor, cancelled_by_caller && !while_releasing ? chance.scaled(2 * stage_.hold_max) : duration{24h}, type};
    auto body = [this, &seen, &caller, how, work_for, while_releasing, type,
                 options = resource.options()](lease& held) -> asio::awaitable<int> {
        judge::watched watched{stage_.rules, process_, held, options};
        struct on_exit {
            user& self;
            judge::watched& watched;
            outcome& seen;
            bool heeds;
            ~on_exit()
            {
                if (self.stage_.world.is_dead(self.process_)) return;
                seen.body_over = self.stage_.world.now();
                seen.left = true;
                watched.body_ended(heeds);
                watched.leaves();
                if (self.client_) seen.handoffs = self.client_->status().counters.handoffs;
            }
        } const guard{*this, watched, seen, how != manner::ignores};
        seen.value = watched.value();
        seen.entered = true;
        stage_.rules.scope_begins(process_);
        if (how == manner::ignores) co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        for (int slice = 0; slice < 3; ++slice) {
            write(watched);
            auto rest = sleep(work_for / 3);
            co_await std::move(rest);
        }
        write(watched);
        if (how == manner::throws) throw std::runtime_error{"the body failed"};
        seen.finished = true;
        if (while_releasing) caller.rather_after(stage_.world.chance.between(0ns, 2 * stage_.world.weather.delay_max), type);
        co_return 42;
    };

    stage_.rules.started(process_);
    stage_.rules.scope_waits(process_);
    auto scope = asio::co_spawn(executor, with_lock(resource, body), asio::bind_cancellation_slot(caller.slot(), as_result));
    auto const [failure, value] = co_await std::move(scope);
    stage_.rules.ended(process_);

    if (!seen.entered) stage_.rules.scope_gives_up(process_);
    if (seen.entered && !seen.left) stage_.rules.violation("a scope ended before its body");
    error_code ec;
    bool threw = false;
    if (failure) {
        try {
            std::rethrow_exception(failure);
        } catch (system_error const& e) {
            ec = e.code();
        } catch (std::runtime_error const&) {
            threw = true;
        }
    }
    if (threw) ++covered.body_threw;
    if (threw && how != manner::throws) stage_.rules.violation("a scope threw what its body did not");
    if (!failure && value != 42) stage_.rules.violation("a scope returned what its body did not");
    if (!failure && how == manner::throws) stage_.rules.violation("a scope swallowed its body's exception");
    expect(ec,
           {errc::contended, errc::no_majority, errc::validity_exhausted, errc::acquire_timed_out, errc::acquire_timed_out_no_majority,
            errc::lease_lost, errc::max_hold_exceeded, errc::client_cancelled, errc::release_unconfirmed, asio::error::operation_aborted},
           "with_lock");
    if (ec == asio::error::operation_aborted && !cancelled_by_caller) stage_.rules.violation("a scope was aborted by nobody");
    if (ec == asio::error::operation_aborted && seen.finished)
        stage_.rules.violation("a scope was aborted after its body had finished: its release is not shielded");
    if (ec == asio::error::operation_aborted) ++covered.scope_cancelled_by_caller;
    if (while_releasing && seen.finished) ++covered.scope_cancelled_while_releasing;
    if (ec == condition::lost && seen.entered) ++covered.scope_cancelled;
    if (!failure) ++covered.scope_finished;
    // Its release was awaited: until a majority has answered, or the node timeout is over. Unless it was passed on.
    bool const passed_on = client_ && client_->status().counters.handoffs > seen.handoffs;
    if (stage_.calm && !passed_on && seen.entered && !seen.value.empty() && ec != condition::lost &&
        stage_.world.now() - seen.body_over < 1ms &&
        stage_.rules.stored(resource.name(), seen.value) >= most_of(stage_.world.servers().size()))
        stage_.rules.violation("a scope ended before its lock was released");
}

// When a majority of the servers will have forgotten the key.
duration user::until_the_lock_is_free(std::vector<std::string> const& names)
{
    std::vector<duration> free;
    for (auto const& s : stage_.world.servers()) {
        auto& on_this = free.emplace_back();
        for (std::string const& name : names)
            if (auto const* const e = s->find(name); e && e->expires)
                on_this = std::max(on_this, s->wall.when(s->memory.gone_at(*e)) - stage_.world.now());
    }
    auto const nth = free.begin() + static_cast<std::ptrdiff_t>(most_of(free.size()) - 1);
    std::nth_element(free.begin(), nth, free.end());
    return *nth;
}

asio::awaitable<void> user::be_a_rival()
{
    auto& chance = stage_.world.chance;
    auto const resource = choose_lock(stage_.usual);
    for (std::size_t tries = 1 + chance.below(4); tries > 0 && client_; --tries) {
        auto const free = until_the_lock_is_free(resource.names());
        auto const when = std::max(duration{}, free + chance.between(-100us, 300us) - stage_.world.weather.delay_min);
        auto wait = sleep(when);
        co_await std::move(wait);
        auto taking = take(resource, true);
        lease held = co_await std::move(taking);
        if (!held) continue;
        judge::watched watched{stage_.rules, process_, held, resource.options()};
        auto rest = sleep(chance.scaled(stage_.hold_max) / 4);
        co_await std::move(rest);
        write(watched);
        auto end = end_holding(std::move(held), watched);
        co_await std::move(end);
    }
}

// Several at once, through one client: some give up, some do not wait, the others have it one after the other.
asio::awaitable<void> user::stand_in_line()
{
    auto options = choose_options();
    options.max_attempts = 0;
    if (stage_.world.chance.one_in(4))
        options.max_hold = std::max(1ms, std::chrono::duration_cast<std::chrono::milliseconds>(options.ttl / 8));
    auto const resource = choose_lock(options);
    std::vector<asio::awaitable<void>> line;
    for (std::size_t const all = 2 + stage_.world.chance.below(5); line.size() < all;) line.push_back(wait_for_turn(resource, line.size()));
    auto everybody = all_of(std::move(line));
    co_await std::move(everybody);
}

asio::awaitable<void> user::all_of(std::vector<asio::awaitable<void>> what)
{
    auto const executor = co_await asio::this_coro::executor;
    timer finished{executor};
    finished.expires_at(time_point::max());
    std::size_t left = what.size();
    for (auto& each : what) {
        asio::co_spawn(executor, std::move(each), [this, &left, &finished](std::exception_ptr failure) {
            if (failure) stage_.rules.violation("one of several at once was surprised");
            if (--left == 0) finished.cancel();
        });
    }
    while (left > 0) {
        auto wait = finished.async_wait(as_result);
        co_await std::move(wait);
    }
}

asio::awaitable<void> user::wait_for_turn(redlock::lock const& resource, std::size_t number)
{
    auto& chance = stage_.world.chance;
    if (chance.one_in(3)) {
        auto later = sleep(chance.scaled(stage_.hold_max / 4));
        co_await std::move(later);
    }
    if (chance.one_in(6)) {
        if (number > 0) ++stage_.world.covered->gave_up_in_line;
        auto waiting = give_up_waiting_for(resource);
        co_await std::move(waiting);
        co_return;
    }
    auto taking = take(resource, chance.one_in(8));
    lease held = co_await std::move(taking);
    if (!held) co_return;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    if (!chance.one_in(4)) {
        auto const max_hold = duration{resource.options().max_hold.value_or(0ms)};
        auto rest = sleep(chance.scaled(max_hold > 0ns ? 2 * max_hold : stage_.hold_max / 4));
        co_await std::move(rest);
    }
    write(watched);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

redlock::rw_lock user::choose_rw_lock()
{
    auto& chance = stage_.world.chance;
    auto options = choose_options();
    options.fencing = true;
    if (chance.one_in(3)) options.token_block = static_cast<std::uint32_t>(1 + chance.below(stage_.block_max));
    if (chance.one_in(6)) {
        options.auto_extend = false;
        options.stop_margin = 0ms;
    }
    return {*client_, stage_.names[chance.below(stage_.names.size())], options};
}

// One of the things that are done with a read-write lock.
asio::awaitable<void> user::share()
{
    auto const resource = choose_rw_lock();
    auto what = [&]() -> asio::awaitable<void> {
        switch (stage_.world.chance.below(10)) {
        case 0:
        case 1:
        case 2: return read_together(resource);
        case 3: return share_in_a_scope(resource, true);
        case 4: return share_in_a_scope(resource, false);
        case 5: return come_when_free(resource);
        case 6:
        case 7: return use_shared(resource, true);
        default: return use_shared(resource, false);
        }
    }();
    co_await std::move(what);
}

// Several through one client, at about the same time: most read.
asio::awaitable<void> user::read_together(redlock::rw_lock const& resource)
{
    auto& chance = stage_.world.chance;
    std::vector<asio::awaitable<void>> all;
    for (std::size_t n = 2 + chance.below(4); n > 0; --n) all.push_back(use_shared(resource, !chance.one_in(5)));
    auto everybody = all_of(std::move(all));
    co_await std::move(everybody);
}

asio::awaitable<void> user::use_shared(redlock::rw_lock const& resource, bool reads)
{
    auto& chance = stage_.world.chance;
    if (chance.one_in(2)) {
        auto later = sleep(chance.scaled(stage_.hold_max));
        co_await std::move(later);
    }
    if (!client_) co_return;
    bool const once = chance.one_in(4);
    auto const gives_up_after = !once && chance.one_in(8) ? 1ns + chance.scaled(2 * stage_.usual.ttl) : 0ns;
    auto taking = take_shared(resource, reads, once, gives_up_after);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    auto holding = hold_shared(std::move(held), resource.options());
    co_await std::move(holding);
}

// Acquires to read or to write, and looks at what came of it; an empty lease if nothing did.
asio::awaitable<lease> user::take_shared(redlock::rw_lock const& resource, bool reads, bool once, duration gives_up_after)
{
    auto const executor = co_await asio::this_coro::executor;
    std::optional<canceller> soon;
    if (gives_up_after > 0ns) soon.emplace(executor, gives_up_after, asio::cancellation_type::terminal);
    asio::cancellation_signal nobody;
    auto const token = [&] { return asio::bind_cancellation_slot(soon ? soon->slot() : nobody.slot(), as_result); };
    attempt_report report;
    stage_.rules.started(process_);
    auto const begin = stage_.world.now();
    auto const place = once ? nullptr : place_for(resource, reads);
    std::tuple<error_code, lease> result;
    if (reads) {
        auto acquire = once ? resource.try_acquire_shared(report, token()) : resource.acquire_shared(report, token());
        result = co_await std::move(acquire);
    } else {
        auto acquire = once ? resource.try_acquire(report, token()) : resource.acquire(report, token());
        result = co_await std::move(acquire);
    }
    stage_.rules.ended(process_);
    auto& [ec, held] = result;
    if (place && held) place->served(held);
    if (reads && held) stage_.rules.let_in(resource.name(), begin);
    if (held && (held.mode() == lock_mode::shared) != reads) stage_.rules.violation("a lease is not of the side that was asked for");
    if (acquired(ec, resource.options(), begin, &report) != static_cast<bool>(held))
        stage_.rules.violation("acquire completed with an error and a lease, or with neither");
    co_return std::move(held);
}

// Reads or writes, once more after a while; who writes may go on as a reader.
asio::awaitable<void> user::hold_shared(lease held, lock_options const& options)
{
    auto& chance = stage_.world.chance;
    judge::watched watched{stage_.rules, process_, held, options};
    if (chance.one_in(2)) write(watched);
    auto rest = chance.one_in(4) ? sleep(chance.scaled(stage_.hold_max / 8)) : work_and_watch_extensions(time_to_hold());
    co_await std::move(rest);
    write(watched);
    if (!watched.reads() && client_ && chance.one_in(2)) {
        auto becoming = become_reader(held, watched);
        co_await std::move(becoming);
        write(watched);
        auto more = sleep(time_to_hold());
        co_await std::move(more);
        write(watched);
    }
    for (int looks = 0; !options.auto_extend && held.valid() && looks < 100; ++looks) {  // it believes its lease to the last moment
        auto last = sleep(held.valid_until() - simulated_clock::now());
        co_await std::move(last);
    }
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

asio::awaitable<void> user::become_reader(lease& held, judge::watched& watched)
{
    bool const was_held = held.valid();
    stage_.rules.started(process_);
    auto down = held.downgrade(as_result);
    auto const [ec] = co_await std::move(down);
    stage_.rules.ended(process_);
    expect(ec, {errc::no_majority, errc::lease_lost, errc::max_hold_exceeded, errc::client_cancelled, asio::error::operation_not_supported},
           "downgrade");
    if (!ec && held.mode() != lock_mode::shared) stage_.rules.violation("a lease was downgraded and does not read");
    if (ec == errc::no_majority) ++stage_.world.covered->downgrade_unconfirmed;
    if (ec == errc::lease_lost && was_held && stage_.calm && watched.reads())
        stage_.rules.violation("a lease was lost when it was downgraded, and no fault happened");
}

asio::awaitable<void> user::share_in_a_scope(redlock::rw_lock const& resource, bool reads)
{
    auto& chance = stage_.world.chance;
    auto const executor = co_await asio::this_coro::executor;
    bool const cancelled = chance.one_in(4);
    canceller caller{executor, cancelled ? chance.scaled(2 * stage_.hold_max) : duration{24h}, asio::cancellation_type::terminal};
    auto place = place_for(resource, reads);
    auto const begin = stage_.world.now();
    bool entered = false;
    auto body = [this, &resource, &place, &entered, reads, begin](lease& held) -> asio::awaitable<void> {
        judge::watched watched{stage_.rules, process_, held, resource.options()};
        struct on_exit {
            user& self;
            judge::watched& watched;
            ~on_exit()
            {
                if (self.stage_.world.is_dead(self.process_)) return;
                watched.body_ended(true);
                watched.leaves();
            }
        } const guard{*this, watched};
        entered = true;
        place.reset();
        stage_.rules.scope_begins(process_);
        if (reads) stage_.rules.let_in(resource.name(), begin);
        for (int slice = 0; slice < 2; ++slice) {
            write(watched);
            auto rest = sleep(time_to_hold() / 2);
            co_await std::move(rest);
        }
        write(watched);
    };
    stage_.rules.started(process_);
    stage_.rules.scope_waits(process_);
    auto scope = reads ? asio::co_spawn(executor, with_shared_lock(resource, body), asio::bind_cancellation_slot(caller.slot(), as_result))
                       : asio::co_spawn(executor, with_lock(resource, body), asio::bind_cancellation_slot(caller.slot(), as_result));
    auto const [failure] = co_await std::move(scope);
    stage_.rules.ended(process_);
    if (!entered) stage_.rules.scope_gives_up(process_);
    error_code ec;
    if (failure) {
        try {
            std::rethrow_exception(failure);
        } catch (system_error const& e) {
            ec = e.code();
        }
    }
    expect(ec,
           {errc::contended, errc::no_majority, errc::validity_exhausted, errc::acquire_timed_out, errc::acquire_timed_out_no_majority,
            errc::lease_lost, errc::max_hold_exceeded, errc::client_cancelled, errc::release_unconfirmed, asio::error::operation_aborted},
           reads ? "with_shared_lock" : "with_lock");
    if (ec == asio::error::operation_aborted && !cancelled) stage_.rules.violation("a scope was aborted by nobody");
}

// A writer who comes when a majority of the servers forgets the last reader, or a reader who comes when it forgets a writer.
asio::awaitable<void> user::come_when_free(redlock::rw_lock const& resource)
{
    auto& chance = stage_.world.chance;
    for (std::size_t tries = 1 + chance.below(4); tries > 0 && client_; --tries) {
        auto const free = until_the_lock_is_free({resource.name()});
        auto wait = sleep(std::max(duration{}, free + chance.between(-100us, 300us) - stage_.world.weather.delay_min));
        co_await std::move(wait);
        if (!client_) co_return;
        auto taking = take_shared(resource, chance.one_in(3), true);
        lease held = co_await std::move(taking);
        if (!held) continue;
        auto holding = hold_shared(std::move(held), resource.options());
        co_await std::move(holding);
    }
}

// An owner takes what he has, again and again, and gives it back in any order.
asio::awaitable<void> user::nest()
{
    struct level {
        lease held;
        std::unique_ptr<judge::watched> watched;
    };
    auto& chance = stage_.world.chance;
    auto options = choose_options();
    options.owner = owner_id{++stage_.owners};
    auto const resource = choose_lock(options);
    std::vector<std::unique_ptr<level>> levels;
    for (std::size_t n = 2 + chance.below(3); n > 0; --n) {
        bool const once = !levels.empty() && chance.one_in(3);
        auto taking = take(resource, once);
        lease held = co_await std::move(taking);
        if (!held) continue;
        levels.push_back(std::make_unique<level>(level{std::move(held), nullptr}));
        levels.back()->watched = std::make_unique<judge::watched>(stage_.rules, process_, levels.back()->held, resource.options());
        write(*levels.back()->watched);
        if (chance.one_in(2)) continue;
        auto rest = sleep(chance.scaled(stage_.hold_max / 4));
        co_await std::move(rest);
    }
    while (!levels.empty()) {
        auto const which = chance.below(levels.size());
        auto const one = std::move(levels[which]);
        levels.erase(levels.begin() + static_cast<std::ptrdiff_t>(which));
        if (!one->watched->is_nested() && !levels.empty()) ++stage_.world.covered->outer_left_first;
        std::vector<level*> valid;
        for (auto const& each : levels)
            if (each->held.valid() && each->watched->value() == one->watched->value()) valid.push_back(each.get());
        auto const before = stage_.world.now();
        auto end = end_holding(std::move(one->held), *one->watched);
        co_await std::move(end);
        for (level* const each : valid)
            if (stage_.world.now() == before && !each->held.valid()) stage_.rules.violation("a nested lease ended with another one");
        if (!valid.empty() && stage_.world.now() - before > stage_.world.paused_between(process_, before, stage_.world.now()))
            stage_.rules.violation("giving back one of several nested leases takes time");
        if (chance.one_in(2)) continue;
        auto rest = sleep(chance.scaled(stage_.hold_max / 4));
        co_await std::move(rest);
    }
}

// Several ask for the same owner at once, and not all of them stand in line: who gets it while another one holds it is nested.
asio::awaitable<void> user::ask_as_one_owner()
{
    auto& chance = stage_.world.chance;
    auto options = choose_options();
    options.owner = owner_id{++stage_.owners};
    options.max_attempts = 0;
    auto const drawn = choose_lock(options);
    options = drawn.options();
    options.token_block = 1;  // the judge cannot tell who was first of those who hear of it at the same moment
    redlock::lock const patient{*client_, drawn.names(), options};
    options.max_attempts = static_cast<std::uint32_t>(1 + chance.below(4));
    redlock::lock const impatient{*client_, patient.names(), options};
    std::vector<asio::awaitable<void>> all;
    for (std::size_t n = 2 + chance.below(4); n > 0; --n) {
        auto const manner = chance.below(4);
        all.push_back(manner == 3 ? give_up_waiting_for(patient) : hold_as_owner(manner == 0 ? impatient : patient, manner == 1));
    }
    auto everybody = all_of(std::move(all));
    co_await std::move(everybody);
}

asio::awaitable<void> user::hold_as_owner(redlock::lock const& resource, bool once)
{
    auto& chance = stage_.world.chance;
    if (chance.one_in(2)) {
        auto later = sleep(chance.scaled(stage_.hold_max / 8));
        co_await std::move(later);
    }
    auto taking = take(resource, once);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    write(watched);
    auto rest = sleep(chance.between(1us, stage_.hold_max / 4));
    co_await std::move(rest);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

}  // namespace redlock::simulation
