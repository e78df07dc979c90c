#include "state_user.hpp"

#include "canceller.hpp"
#include "link.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/this_coro.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace redlock::simulation {

void state_user::expect_of_state(error_code ec, char const* operation)
{
    expect(ec, {errc::no_majority, errc::lease_lost, errc::max_hold_exceeded, errc::not_held, errc::client_cancelled}, operation);
}

// What is sent now reaches one server, and the others later or never.
void state_user::cut_off_but_one()
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

asio::awaitable<void> state_user::publish(lease& held)
{
    if (!stage_.calm && stage_.world.chance.one_in(4)) cut_off_but_one();
    auto& covered = *stage_.world.covered;
    auto const begin = stage_.world.now();
    auto const version = stage_.states->next(held.token());
    stage_.rules.started(process_);
    auto publishing = held.publish(state_judge::bytes_of(version), as_result);
    auto const [ec] = co_await std::move(publishing);
    stage_.rules.ended(process_);
    expect_of_state(ec, "publish");
    if (ec == errc::no_majority) ++covered.publication_unknown;
    if (ec) co_return;
    ++covered.published;
    stage_.states->published(std::string{held.name()}, version, begin);
}

asio::awaitable<void> state_user::inherit(lease& held)
{
    auto& covered = *stage_.world.covered;
    auto const begin = stage_.world.now();
    auto const token = held.token();
    stage_.rules.started(process_);
    auto asking = held.inherited(as_result);
    auto const [ec, state] = co_await std::move(asking);
    stage_.rules.ended(process_);
    expect_of_state(ec, "inherited");
    if (ec && state) stage_.rules.violation("inherited() completed with an error and a state");
    if (ec) co_return;
    if (state && state.token != token) ++covered.inherited;
    stage_.states->inherited(std::string{held.name()}, token, state, begin);
}

asio::awaitable<void> state_user::peek_and_wait(redlock::lock const& resource)
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

// With a lock that has one name and tokens. Some do not ask what they inherit, and some publish while somebody else has the lock by then.
asio::awaitable<void> state_user::publish_and_inherit()
{
    auto& chance = stage_.world.chance;
    auto options = choose_options();
    options.fencing = true;
    redlock::lock const resource{*client_, stage_.names[chance.below(stage_.names.size())], options};
    if (chance.one_in(4)) {
        auto looking = peek_and_wait(resource);
        co_await std::move(looking);
        if (!client_) co_return;
    }
    auto taking = take(resource);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
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
    auto end = write_and_end(held, watched);
    co_await std::move(end);
}

}  // namespace redlock::simulation
