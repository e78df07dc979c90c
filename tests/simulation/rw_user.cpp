#include "rw_user.hpp"

#include "canceller.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/this_coro.hpp>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

namespace redlock::simulation {

redlock::rw_lock rw_user::choose_rw_lock()
{
    auto const options = choose_options_with_tokens();
    return {*client_, stage_.names[stage_.world.chance.below(stage_.names.size())], options};
}

// One of the things that are done with a read-write lock.
asio::awaitable<void> rw_user::use_rw_lock()
{
    auto const resource = choose_rw_lock();
    auto what = [&]() -> asio::awaitable<void> {
        switch (stage_.world.chance.below(10)) {
        case 0:
        case 1:
        case 2: return read_together(resource);
        case 3: return scopes_.use_rw_lock(resource, true);
        case 4: return scopes_.use_rw_lock(resource, false);
        case 5: return come_when_free(resource);
        case 6:
        case 7: return use_shared(resource, true);
        default: return use_shared(resource, false);
        }
    }();
    co_await std::move(what);
}

// Several through one client, at about the same time: most read.
asio::awaitable<void> rw_user::read_together(redlock::rw_lock const& resource)
{
    auto& chance = stage_.world.chance;
    std::vector<asio::awaitable<void>> all;
    for (std::size_t n = 2 + chance.below(4); n > 0; --n) all.push_back(use_shared(resource, !chance.one_in(5)));
    auto everybody = all_of(std::move(all));
    co_await std::move(everybody);
}

asio::awaitable<void> rw_user::use_shared(redlock::rw_lock const& resource, bool reads)
{
    auto& chance = stage_.world.chance;
    if (chance.one_in(2)) {
        auto later = sleep(chance.scaled(stage_.longest_hold));
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
asio::awaitable<lease> rw_user::take_shared(redlock::rw_lock const& resource, bool reads, bool once, duration gives_up_after)
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
    if (reads && held) stage_.rules.turns().reader_served(std::string{resource.name()}, begin);
    if (held && (held.mode() == lock_mode::shared) != reads) stage_.rules.violation("a lease is not of the side that was asked for");
    examine(ec, held, resource.options(), begin, &report);
    co_return std::move(held);
}

// Reads or writes, once more after a while; who writes may go on as a reader.
asio::awaitable<void> rw_user::hold_shared(lease held, lock_options const& options)
{
    auto& chance = stage_.world.chance;
    watched_lease watched{stage_.rules, process_, held, options};
    if (chance.one_in(2)) write(watched);
    auto rest = chance.one_in(4) ? sleep(chance.scaled(stage_.longest_hold / 8)) : work_and_watch_extensions(time_to_hold());
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
    if (!options.auto_extend) {
        auto all_of_it = believe_to_the_end(held);
        co_await std::move(all_of_it);
    }
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

asio::awaitable<void> rw_user::become_reader(lease& held, watched_lease& watched)
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

// A writer who comes when a majority of the servers forgets the last reader, or a reader who comes when it forgets a writer.
asio::awaitable<void> rw_user::come_when_free(redlock::rw_lock const& resource)
{
    auto& chance = stage_.world.chance;
    for (std::size_t tries = 1 + chance.below(4); tries > 0 && client_; --tries) {
        auto const free = time_until_free({std::string{resource.name()}});
        auto wait = sleep(std::max(duration{}, free + chance.between(-100us, 300us) - stage_.world.weather.min_delay));
        co_await std::move(wait);
        if (!client_) co_return;
        auto taking = take_shared(resource, chance.one_in(3), true);
        lease held = co_await std::move(taking);
        if (!held) continue;
        auto holding = hold_shared(std::move(held), resource.options());
        co_await std::move(holding);
    }
}

}  // namespace redlock::simulation
