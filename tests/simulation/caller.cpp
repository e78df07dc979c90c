#include "caller.hpp"

#include "canceller.hpp"
#include "judge_arithmetic.hpp"
#include "link.hpp"

#include "quorum/sets/set_record.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <array>
#include <exception>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace redlock::simulation {

namespace {

// Whether servers have records of two sets, as one that came back with an older state may.
bool has_two_sets(universe const& in)
{
    std::set<std::string> ids;
    for (auto const& s : in.servers())
        if (auto const said = quorum::read_set_text(s->memory.set_record); said.is == quorum::set_text::kind::good)
            ids.insert(said.record.id);
    return ids.size() > 1;
}

}  // namespace

lock_options caller::choose_options()
{
    auto& chance = stage_.world.chance;
    auto o = stage_.usual;
    o.ttl = process_ttl(stage_, process_.index());
    auto const in_ms = [](duration d) { return std::chrono::duration_cast<std::chrono::milliseconds>(d); };
    if (chance.one_in(4)) o.stop_margin = in_ms(chance.between(0ms, o.ttl / 3));
    auto const away = stage_.world.between(process_, *stage_.world.servers().front()).distance;
    auto const round_trip = std::max<duration>(2 * (stage_.world.weather.max_delay + away), 500us);
    if (chance.one_in(4)) o.node_timeout = std::min(o.ttl, std::max(1ms, in_ms(2 * round_trip + chance.scaled(o.ttl))));
    if (chance.one_in(6)) o.acquire_timeout = std::max(1ms, in_ms(chance.scaled(2 * o.ttl)));
    if (chance.one_in(6)) o.max_attempts = static_cast<std::uint32_t>(1 + chance.below(5));
    if (chance.one_in(12)) o.max_hold = std::max(1ms, in_ms(chance.scaled(o.ttl)));
    return o;
}

// The same for what exists with tokens only. Some leases are not extended, and count to the last moment.
lock_options caller::choose_options_with_tokens()
{
    auto& chance = stage_.world.chance;
    auto options = choose_options();
    options.fencing = true;
    if (chance.one_in(3)) options.token_block = static_cast<std::uint32_t>(1 + chance.below(stage_.max_block));
    if (chance.one_in(6)) {
        options.auto_extend = false;
        options.stop_margin = 0ms;
    }
    return options;
}

redlock::lock caller::choose_lock(lock_options options)
{
    auto& chance = stage_.world.chance;
    options.fencing = stage_.of_locks == kinds::with_tokens || (stage_.of_locks == kinds::mixed && chance.one_in(2));
    if (options.fencing && chance.one_in(2)) options.token_block = static_cast<std::uint32_t>(1 + chance.below(stage_.max_block));
    auto const& names = stage_.names;
    auto const first = chance.below(names.size());
    if (names.size() == 1 || !chance.one_in(3)) return redlock::lock{*client_, names[first], options};
    std::vector<std::string> several;  // in any order
    for (std::size_t n = 2 + chance.below(names.size() - 1); n > 0; --n) several.push_back(names[(first + n) % names.size()]);
    return redlock::lock{*client_, several, options};
}

redlock::lock caller::choose_lock() { return choose_lock(choose_options()); }

duration caller::time_to_hold() { return stage_.world.chance.scaled(stage_.longest_hold); }

void caller::say(std::string text)
{
    if (stage_.world.records) stage_.world.records->say(process_.index(), stage_.world.now(), std::move(text));
}

void caller::expect(error_code ec, std::initializer_list<error_code> allowed, char const* operation)
{
    if (stage_.world.records) say(std::string{operation} + ": " + (ec ? ec.message() : "done"));
    if (!ec || std::find(allowed.begin(), allowed.end(), ec) != allowed.end()) return;
    if (ec == errc::wrong_node_set && has_two_sets(stage_.world)) return;
    stage_.rules.violation(std::string{operation} + " completed with an error that it does not document for this case: " + ec.message());
}

void caller::expect_release(error_code ec)
{
    expect(ec, {errc::lease_lost, errc::max_hold_exceeded, errc::release_unconfirmed, errc::client_cancelled}, "release");
}

bool caller::judge_error(error_code ec, lock_options const& options, duration since, attempt_report const* report)
{
    auto& covered = *stage_.world.covered;
    error_code const of_semaphores = stage_.permits > 0 ? errc::permits_differ : errc::contended;  // where there are none: nothing more
    expect(ec,
           {errc::contended, errc::split_votes, errc::no_majority, errc::validity_exhausted, errc::acquire_timed_out,
            errc::acquire_timed_out_no_majority, errc::client_cancelled, asio::error::operation_aborted, of_semaphores},
           "acquire");
    if (ec == errc::permits_differ) ++covered.permits_differ;
    if (ec == errc::acquire_timed_out) ++covered.acquire_timed_out;
    if (ec == errc::acquire_timed_out_no_majority) ++covered.acquire_timed_out_no_majority;
    if (options.acquire_timeout) {
        duration const deadline = *options.acquire_timeout;
        duration const most = deadline + between_clocks(deadline) + 1us;
        duration const took = stage_.world.now() - since;
        if (took > most + stage_.world.paused_between(process_, since, stage_.world.now()))
            stage_.rules.violation("acquire completed " + std::to_string((took - most).count()) + " ns after its deadline");
    }
    if (report) {
        auto const failed = [](node_verdict const& v) { return v.vote == vote::failed; };
        bool const somebody_failed = std::any_of(report->nodes.begin(), report->nodes.end(), failed);
        if (!ec && report->attempts > 1) ++covered.acquired_on_retry;
        if (!ec && somebody_failed) ++covered.acquired_with_a_failed_node;
        if (ec == errc::split_votes) ++covered.split_votes;
        // The words of acquisitions::reject_locally.
        if (ec == errc::contended && !report->nodes.empty() && report->nodes.front().detail.starts_with("not asked"))
            ++covered.rejected_locally;
    }
    return !ec;
}

// For those who keep their place in the line: attempts are not limited; else null. The destructor takes back the place of one who gives up. A nested
// lease is for an owner who has his turn already.
std::unique_ptr<turn_judge::place> caller::place_for(redlock::lock const& resource) const
{
    auto const& options = resource.options();
    if (options.max_attempts > 0 || options.owner != owner_id{}) return nullptr;
    return std::make_unique<turn_judge::place>(stage_.rules, process_, std::string{resource.name()});
}

std::unique_ptr<turn_judge::place> caller::place_for(redlock::rw_lock const& resource, bool reads) const
{
    if (resource.options().max_attempts > 0) return nullptr;
    return std::make_unique<turn_judge::place>(stage_.rules, process_, std::string{resource.name()},
                                               reads ? turn_judge::wants::to_read : turn_judge::wants::to_write);
}

// Acquires, and looks at what came of it; an empty lease if nothing did.
asio::awaitable<lease> caller::take(redlock::lock const& resource, bool once, attempt_report* report)
{
    attempt_report unread;  // only who passes a report has its votes counted
    attempt_report& written = report ? *report : unread;
    stage_.rules.started(process_);
    auto const begin = stage_.world.now();
    auto const place = once ? nullptr : place_for(resource);
    auto acquire = once ? resource.try_acquire(written, as_result) : resource.acquire(written, as_result);
    auto result = co_await std::move(acquire);
    stage_.rules.ended(process_);
    auto& [ec, held] = result;
    if (place && held) place->served(held);
    examine(ec, held, resource.options(), begin, report);
    co_return std::move(held);
}

bool caller::examine(error_code ec, lease const& held, lock_options const& options, duration since, attempt_report const* report)
{
    if (held && stage_.world.now() == since && held.valid_until() < simulated_clock::now())
        stage_.rules.violation("acquire handed out at once a lease that had ended");
    bool const got_it = judge_error(ec, options, since, report);
    if (got_it != static_cast<bool>(held)) stage_.rules.violation("acquire completed with an error and a lease, or with neither");
    return got_it;
}

// Works for a while. As long as nothing else is acquired, what the client counts about extensions is about this lease.
asio::awaitable<void> caller::work_and_watch_extensions(duration work_for)
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

// Believes a lease that is not extended to its last moment.
asio::awaitable<void> caller::believe_to_the_end(lease& held)
{
    for (int looks = 0; held.valid() && looks < 100; ++looks) {
        auto rest = sleep(held.valid_until() - simulated_clock::now());
        co_await std::move(rest);
    }
}

// Uses what the lock protects, once or with several tokens.
void caller::write(watched_lease& watched)
{
    auto& chance = stage_.world.chance;
    watched.write();
    if (stage_.max_block == 1) return;
    for (std::size_t more = chance.below(4); more > 0; --more) {
        watched.next_token();
        if (chance.one_in(2)) watched.write();
    }
}

// Gives the lease back in one of the ways there are.
asio::awaitable<void> caller::end_holding(lease held, watched_lease& watched)
{
    auto& covered = *stage_.world.covered;
    // A holder that does not notice the end: writes once more, after the release, or just before that of the destructor. The resource has to refuse it
    // by its token where it has seen a larger one.
    struct late_writer {
        caller& self;
        watched_lease& watched;
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
    expect_release(ec);
    if (ec == errc::lease_lost && was_valid && stage_.calm)
        stage_.rules.violation("a valid lease turned out to be lost at its release, and no fault happened");
    if (held.valid()) stage_.rules.violation("a released lease says that it is valid");
}

// The judge goes on looking at the caller's lease object, which is empty once the lease has moved on to its end.
asio::awaitable<void> caller::write_and_end(lease& held, watched_lease& watched)
{
    write(watched);
    return end_holding(std::move(held), watched);
}

// How long until a majority of the servers will have forgotten the keys. All keys with these names expire here, also those of others.
duration caller::time_until_free(std::vector<std::string> const& names)
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

asio::awaitable<void> caller::all_of(std::vector<asio::awaitable<void>> what)
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

// Acquires, and is cancelled while it waits, or with its first request on the way.
asio::awaitable<void> caller::give_up_waiting_for(redlock::lock const& resource)
{
    auto& chance = stage_.world.chance;
    auto& covered = *stage_.world.covered;
    auto const type = chance.pick(
        std::array{asio::cancellation_type::total, asio::cancellation_type::partial, asio::cancellation_type::terminal});
    auto const executor = co_await asio::this_coro::executor;
    canceller soon{executor, chance.scaled(stage_.usual.ttl), type};
    bool const at_once = chance.one_in(3);
    // Then `soon` rings for nobody. It stays, since each timer has a part in the schedules that seeds stand for.
    std::optional<canceller> in_flight;
    if (at_once) in_flight.emplace(executor, chance.between(0ns, 2 * stage_.world.weather.max_delay), type);
    canceller const& gives_up = at_once ? *in_flight : soon;
    stage_.rules.started(process_);
    auto const begin = stage_.world.now();
    auto const place = place_for(resource);
    auto acquire = resource.acquire(asio::bind_cancellation_slot(gives_up.slot(), as_result));
    auto result = co_await std::move(acquire);
    stage_.rules.ended(process_);
    auto& [ec, held] = result;
    if (place && held) place->served(held);
    if (ec == asio::error::operation_aborted) {
        if (type == asio::cancellation_type::total) ++covered.cancelled_total;
        if (type == asio::cancellation_type::partial) ++covered.cancelled_partial;
        if (type == asio::cancellation_type::terminal) ++covered.cancelled_terminal;
    }
    if (!judge_error(ec, resource.options(), begin, nullptr)) co_return;
    // By `total` only, which awaits an attempt under way: the others end the acquisition at once.
    if (type == asio::cancellation_type::total && gives_up.emitted()) ++covered.cancelled_but_won;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
    write(watched);
    if (resource.options().owner != owner_id{}) {  // so that the judge sees who is nested in it
        auto rest = sleep(1us);
        co_await std::move(rest);
    }
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

}  // namespace redlock::simulation
