#include "ticket_user.hpp"

#include "canceller.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace redlock::simulation {

// Detaches the lease. Whoever picks up its ticket goes on with it. False: it is held here as before.
bool ticket_user::detach(lease& held, watched_lease& watched, lock_options const& options)
{
    bool const was_valid = held.valid();
    std::string const name{held.name()};
    detached_lease t{
        {}, watched.lineage(), watched.next_of_block(), watched.last_of_block(), options, process_.clock.when(held.valid_until())};
    watched.leaves(held);
    auto const& climbs = stage_.world.climbs_unheard;
    auto const climb = climbs.find({process_.index(), name});
    t.is_climbing = climb != climbs.end() && climb->second > 0;
    t.text = held.detach();
    say("detach " + name + (t.text.empty() ? ": it is over" : ""));
    if (t.text.empty() == was_valid) stage_.rules.violation("a valid lease has no ticket, or one that is over has one");
    if (t.text.empty()) return false;
    if (held) stage_.rules.violation("a lease is not empty after detach()");
    ++stage_.world.covered->detached;
    stage_.rules.tickets().travels(t.text);
    stage_.tickets.push_back(std::move(t));
    return true;
}

asio::awaitable<void> ticket_user::detach_lease()
{
    auto const resource = choose_lock();
    auto taking = take(resource);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
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
asio::awaitable<void> ticket_user::adopt_ticket()
{
    auto& chance = stage_.world.chance;
    if (stage_.tickets.empty()) {
        auto sending = detach_lease();
        co_await std::move(sending);
        co_return;
    }
    auto const which = static_cast<std::ptrdiff_t>(chance.below(stage_.tickets.size()));
    detached_lease const ticket = stage_.tickets[static_cast<std::size_t>(which)];
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
    // Without faults, who comes in time adopts, if nobody else tries: two may split the nodes. (A process that is paused is a fault.) A
    // climb that was under way raises the counters above the ticket's guard.
    bool const may_expect_it = stage_.calm && !gives_up && !ticket.is_climbing && ticket.until - begin > duration{options.ttl} / 2;
    stage_.rules.tickets().note_attempt(ticket);
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
    if (may_expect_it && ec == errc::lease_lost && stage_.rules.tickets().times_tried(ticket) == 1)
        stage_.rules.violation("the only one who adopts a lease, and in time, is told that it is over: " + ticket.lineage);
    if (!held) co_return;
    ++covered.adopted;
    if (options.node_timeout && stage_.world.now() - begin > *options.node_timeout) ++covered.adopted_late;
    watched_lease watched{stage_.rules, process_, held, options, &ticket};
    write(watched);
    auto rest = sleep(time_to_hold());
    co_await std::move(rest);
    write(watched);
    if (chance.one_in(3) && detach(held, watched, options)) co_return;
    auto end = end_holding(std::move(held), watched);
    co_await std::move(end);
}

}  // namespace redlock::simulation
