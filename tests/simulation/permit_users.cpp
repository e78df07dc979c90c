// Users of semaphores: one permit or several, in scopes, several at once, with another number than the others, or one slot as a lock.
#include "link.hpp"
#include "users.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace redlock::simulation {

namespace {

constexpr auto result_of = asio::as_tuple(asio::use_awaitable);

}  // namespace

redlock::semaphore user::choose_semaphore()
{
    auto& chance = stage_.world.chance;
    auto options = choose_options();
    options.fencing = true;
    if (chance.one_in(3)) options.token_block = static_cast<std::uint32_t>(1 + chance.below(stage_.block_max));
    if (chance.one_in(6)) {
        options.auto_extend = false;
        options.stop_margin = 0ms;
    }
    auto const permits = stage_.permits + (chance.one_in(10) ? 1 : 0);  // a mistake
    return {*client_, stage_.names[chance.below(stage_.names.size())], {.permits = permits, .lock = options}};
}

// One of the things that are done with a semaphore.
asio::awaitable<void> user::count()
{
    auto const resource = choose_semaphore();
    auto& chance = stage_.world.chance;
    auto what = [&]() -> asio::awaitable<void> {
        switch (chance.below(10)) {
        case 0:
        case 1:
        case 2: return count_together(resource);
        case 3:
        case 4: return count_in_a_scope(resource);
        case 5: return use_a_slot();
        case 6:
        case 7: return use_permits(resource, static_cast<std::uint32_t>(1 + chance.below(resource.permits())));
        default: return use_permits(resource, 1);
        }
    }();
    co_await std::move(what);
}

// Several through one client, at about the same time.
asio::awaitable<void> user::count_together(redlock::semaphore const& resource)
{
    auto& chance = stage_.world.chance;
    std::size_t const several = chance.one_in(4) ? 1 : 6;
    std::vector<asio::awaitable<void>> all;
    for (std::size_t n = 2 + chance.below(4); n > 0; --n)
        all.push_back(use_permits(resource, chance.one_in(several) ? static_cast<std::uint32_t>(1 + chance.below(resource.permits())) : 1));
    auto everybody = all_of(std::move(all));
    co_await std::move(everybody);
}

// How long a caller waits for permits; 0: as long as it takes. Some go while their attempt is on its way, be it between its choice and its end.
duration user::patience(bool once)
{
    auto& chance = stage_.world.chance;
    if (chance.one_in(6)) return 1ns + chance.between(0ns, 5 * stage_.world.weather.delay_max);
    return !once && chance.one_in(8) ? 1ns + chance.scaled(2 * stage_.usual.ttl) : 0ns;
}

asio::awaitable<void> user::use_permits(redlock::semaphore const& resource, std::uint32_t wanted)
{
    auto& chance = stage_.world.chance;
    if (auto const kind = chance.below(4); kind > 0) {
        auto const every = stage_.hold_max;  // many at the same moment, as on the hour
        auto later = sleep(kind == 1 ? every - stage_.world.now() % every : chance.scaled(every));
        co_await std::move(later);
    }
    if (!client_) co_return;
    bool const once = chance.one_in(4);
    auto taking = take_permits(resource, wanted, once, patience(once));
    lease held = co_await std::move(taking);
    if (!held) co_return;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    watched.of_permits(resource.permits());
    if (chance.one_in(2)) write(watched);
    auto rest = chance.one_in(4) ? sleep(chance.scaled(stage_.hold_max / 8)) : work_and_watch_extensions(time_to_hold());
    co_await std::move(rest);
    write(watched);
    for (int looks = 0; !resource.options().auto_extend && held.valid() && looks < 100;
         ++looks) {  // it believes its lease to the last moment
        auto last = sleep(held.valid_until() - simulated_clock::now());
        co_await std::move(last);
    }
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

// Acquires, and looks at what came of it; an empty lease if nothing did.
asio::awaitable<lease> user::take_permits(redlock::semaphore const& resource, std::uint32_t wanted, bool once, duration gives_up_after)
{
    auto const executor = co_await asio::this_coro::executor;
    auto const signal = std::make_shared<asio::cancellation_signal>();
    std::optional<timer> soon;
    if (gives_up_after > 0ns) {
        soon.emplace(executor, gives_up_after);
        soon->async_wait([signal](error_code ec) {
            if (!ec) signal->emit(asio::cancellation_type::terminal);
        });
    }
    attempt_report report;
    stage_.rules.started(process_);
    auto const begin = stage_.world.now();
    auto const token = asio::bind_cancellation_slot(signal->slot(), result_of);
    std::tuple<error_code, lease> result;
    if (once) {
        auto acquire = resource.try_acquire(wanted, report, token);
        result = co_await std::move(acquire);
    } else {
        auto acquire = resource.acquire(wanted, report, token);
        result = co_await std::move(acquire);
    }
    soon.reset();
    stage_.rules.ended(process_);
    auto& [ec, held] = result;
    if (held && held.mode() != lock_mode::permit) stage_.rules.violation("a lease on permits says that it is something else");
    if (held && held.slots().size() != wanted) stage_.rules.violation("another number of permits was granted than was asked for");
    for (std::uint32_t const slot : held.slots())
        if (slot >= resource.permits()) stage_.rules.violation("a slot was granted that the semaphore does not have");
    if (acquired(ec, resource.options(), begin, &report) != static_cast<bool>(held))
        stage_.rules.violation("acquire completed with an error and a lease, or with neither");
    if (held) ++(wanted > 1 ? stage_.world.covered->several_permits : stage_.world.covered->permit);
    co_return std::move(held);
}

asio::awaitable<void> user::count_in_a_scope(redlock::semaphore const& resource)
{
    auto const executor = co_await asio::this_coro::executor;
    bool entered = false;
    auto body = [this, &resource, &entered](lease& held) -> asio::awaitable<void> {
        judge::watched watched{stage_.rules, process_, held, resource.options()};
        watched.of_permits(resource.permits());
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
        stage_.rules.scope_begins(process_);
        write(watched);
        auto rest = sleep(time_to_hold());
        co_await std::move(rest);
        write(watched);
    };
    stage_.rules.started(process_);
    stage_.rules.scope_waits(process_);
    auto scope = asio::co_spawn(executor, with_lock(resource, body), result_of);
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
            errc::lease_lost, errc::max_hold_exceeded, errc::client_cancelled, errc::release_unconfirmed, errc::permits_differ},
           "with_lock on a semaphore");
}

// A slot is a lock of its name, for whoever wants it.
asio::awaitable<void> user::use_a_slot()
{
    auto& chance = stage_.world.chance;
    std::string const& semaphore = stage_.names[chance.below(stage_.names.size())];
    auto const name = semaphore + "#" + std::to_string(chance.below(stage_.permits));
    auto options = choose_options();
    options.fencing = true;
    redlock::lock const resource{*client_, name, options};
    auto taking = take(resource, true);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    judge::watched watched{stage_.rules, process_, held, resource.options()};
    write(watched);
    auto rest = sleep(chance.scaled(stage_.hold_max / 4));
    co_await std::move(rest);
    write(watched);
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

}  // namespace redlock::simulation
