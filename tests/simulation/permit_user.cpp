#include "permit_user.hpp"

#include "canceller.hpp"
#include "link.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace redlock::simulation {

redlock::semaphore permit_user::choose_semaphore()
{
    auto& chance = stage_.world.chance;
    auto const options = choose_options_with_tokens();
    auto const permits = stage_.permits + (chance.one_in(10) ? 1 : 0);  // a mistake
    return {*client_, stage_.names[chance.below(stage_.names.size())], {.permits = permits, .lock = options}};
}

// One of the things that are done with a semaphore.
asio::awaitable<void> permit_user::use_semaphore()
{
    auto const resource = choose_semaphore();
    auto& chance = stage_.world.chance;
    auto what = [&]() -> asio::awaitable<void> {
        switch (chance.below(10)) {
        case 0:
        case 1:
        case 2: return use_permits_together(resource);
        case 3:
        case 4: return scopes_.use_semaphore(resource);
        case 5: return use_a_slot();
        case 6:
        case 7: return use_permits(resource, static_cast<std::uint32_t>(1 + chance.below(resource.permits())));
        default: return use_permits(resource, 1);
        }
    }();
    co_await std::move(what);
}

// Several through one client, at about the same time.
asio::awaitable<void> permit_user::use_permits_together(redlock::semaphore const& resource)
{
    auto& chance = stage_.world.chance;
    std::size_t const several = chance.one_in(4) ? 1 : 6;
    std::vector<asio::awaitable<void>> all;
    for (std::size_t n = 2 + chance.below(4); n > 0; --n)
        all.push_back(use_permits(resource, chance.one_in(several) ? static_cast<std::uint32_t>(1 + chance.below(resource.permits())) : 1));
    auto everybody = all_of(std::move(all));
    co_await std::move(everybody);
}

// How long a caller waits for permits; 0: as long as it takes. Some go while their attempt is on its way, be it between its choice and its
// end.
duration permit_user::patience(bool once)
{
    auto& chance = stage_.world.chance;
    if (chance.one_in(6)) return 1ns + chance.between(0ns, 5 * stage_.world.weather.max_delay);
    return !once && chance.one_in(8) ? 1ns + chance.scaled(2 * stage_.usual.ttl) : 0ns;
}

asio::awaitable<void> permit_user::use_permits(redlock::semaphore const& resource, std::uint32_t wanted)
{
    auto& chance = stage_.world.chance;
    if (auto const kind = chance.below(4); kind > 0) {
        auto const every = stage_.longest_hold;  // many at the same moment, as on the hour
        auto later = sleep(kind == 1 ? every - stage_.world.now() % every : chance.scaled(every));
        co_await std::move(later);
    }
    if (!client_) co_return;
    bool const once = chance.one_in(4);
    auto taking = take_permits(resource, wanted, once, patience(once));
    lease held = co_await std::move(taking);
    if (!held) co_return;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
    watched.of_permits(resource.permits());
    if (chance.one_in(2)) write(watched);
    auto rest = chance.one_in(4) ? sleep(chance.scaled(stage_.longest_hold / 8)) : work_and_watch_extensions(time_to_hold());
    co_await std::move(rest);
    write(watched);
    if (!resource.options().auto_extend) {
        auto all_of_it = believe_to_the_end(held);
        co_await std::move(all_of_it);
    }
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

// Acquires, and looks at what came of it; an empty lease if nothing did.
asio::awaitable<lease> permit_user::take_permits(redlock::semaphore const& resource, std::uint32_t wanted, bool once,
                                                 duration gives_up_after)
{
    auto const executor = co_await asio::this_coro::executor;
    std::optional<canceller> soon;
    if (gives_up_after > 0ns) soon.emplace(executor, gives_up_after, asio::cancellation_type::terminal);
    asio::cancellation_signal nobody;
    attempt_report report;
    stage_.rules.started(process_);
    auto const begin = stage_.world.now();
    auto const token = asio::bind_cancellation_slot(soon ? soon->slot() : nobody.slot(), as_result);
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
    examine(ec, held, resource.options(), begin, &report);
    if (held) ++(wanted > 1 ? stage_.world.covered->several_permits : stage_.world.covered->permit);
    co_return std::move(held);
}

// A slot is a lock of its name, for whoever wants it.
asio::awaitable<void> permit_user::use_a_slot()
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
    watched_lease watched{stage_.rules, process_, held, resource.options()};
    write(watched);
    auto rest = sleep(chance.scaled(stage_.longest_hold / 4));
    co_await std::move(rest);
    auto end = write_and_end(held, watched);
    co_await std::move(end);
}

}  // namespace redlock::simulation
