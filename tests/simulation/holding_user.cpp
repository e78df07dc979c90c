#include "holding_user.hpp"

#include "canceller.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/this_coro.hpp>

#include <memory>
#include <optional>
#include <utility>

namespace redlock::simulation {

asio::awaitable<void> holding_user::hold_for_a_while()
{
    auto const resource = choose_lock();
    attempt_report report;  // so that take() counts what the nodes said
    bool const once = stage_.world.chance.one_in(3);
    auto taking = take(resource, once, &report);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
    auto rest = work_and_watch_extensions(time_to_hold());
    co_await std::move(rest);
    auto end = write_and_end(held, watched);
    co_await std::move(end);
}

asio::awaitable<void> holding_user::visit()
{
    auto const resource = choose_lock();
    attempt_report report;
    auto taking = take(resource, true, &report);
    lease held = co_await std::move(taking);
    if (report.outcome == condition::contended) ++stage_.world.covered->visitor_contended;
    if (!held) co_return;
    ++stage_.world.covered->visitor_acquired;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
    auto rest = sleep(time_to_hold());
    co_await std::move(rest);
    auto end = write_and_end(held, watched);
    co_await std::move(end);
}

// hold_for_a_while() without coroutines: what is kept lives in the handlers.
asio::awaitable<void> holding_user::with_callbacks()
{
    struct holding {
        explicit holding(redlock::lock const& l) : resource{l} {}
        redlock::lock resource;
        std::unique_ptr<turn_judge::place> place;
        lease held;
        std::optional<watched_lease> watched;
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
        if (!examine(ec, got, state->resource.options(), begin, nullptr)) {
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
                expect_release(result);
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

asio::awaitable<void> holding_user::extend_by_hand()
{
    auto options = stage_.usual;
    options.auto_extend = false;
    auto const resource = choose_lock(options);
    auto taking = take(resource);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
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
    auto end = write_and_end(held, watched);
    co_await std::move(end);
}

asio::awaitable<void> holding_user::wait_for_loss()
{
    auto const resource = choose_lock();
    auto taking = take(resource);
    lease held = co_await std::move(taking);
    if (!held) co_return;
    watched_lease watched{stage_.rules, process_, held, resource.options()};
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
    auto end = write_and_end(held, watched);
    co_await std::move(end);
}

asio::awaitable<void> holding_user::use_to_the_last_moment()
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
    watched_lease watched{stage_.rules, process_, held, resource.options()};
    auto all_of_it = believe_to_the_end(held);
    co_await std::move(all_of_it);
    if (stage_.world.chance.one_in(2)) {
        stage_.rules.started(process_);
        auto extend = held.extend(as_result);
        auto const [too_late] = co_await std::move(extend);
        stage_.rules.ended(process_);
        if (!too_late) stage_.rules.violation("a lease was extended after its end");
    }
    auto end = write_and_end(held, watched);
    co_await std::move(end);
}

}  // namespace redlock::simulation
