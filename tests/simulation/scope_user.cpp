#include "scope_user.hpp"

#include "canceller.hpp"
#include "judge_arithmetic.hpp"
#include "link.hpp"

#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/this_coro.hpp>

#include <array>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

namespace redlock::simulation {

namespace {

// Tells the judge that the body of a scope is over, unless its process was killed.
class end_of_body {
public:
    end_of_body(universe const& in, process const& p, watched_lease& what, bool heeds_cancellation = true)
        : world_{in}, process_{p}, watched_{what}, heeds_cancellation_{heeds_cancellation}
    {
    }
    end_of_body(end_of_body const&) = delete;
    end_of_body& operator=(end_of_body const&) = delete;
    ~end_of_body()
    {
        if (world_.is_dead(process_)) return;
        watched_.body_ended(heeds_cancellation_);
        watched_.leaves();
    }

private:
    universe const& world_;
    process const& process_;
    watched_lease& watched_;
    bool heeds_cancellation_;
};

error_code error_of(std::exception_ptr const& failure)
{
    if (!failure) return {};
    try {
        std::rethrow_exception(failure);
    } catch (system_error const& e) {
        return e.code();
    }
}

}  // namespace

// `also`: an error that only this scope may end with.
void scope_user::expect_of_scope(error_code ec, error_code also, char const* operation)
{
    expect(ec,
           {errc::contended, errc::split_votes, errc::no_majority, errc::validity_exhausted, errc::acquire_timed_out,
            errc::acquire_timed_out_no_majority, errc::lease_lost, errc::max_hold_exceeded, errc::client_cancelled,
            errc::release_unconfirmed, also},
           operation);
}

asio::awaitable<void> scope_user::use_lock()
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
    canceller from_outside{executor, cancelled_by_caller && !while_releasing ? chance.scaled(2 * stage_.longest_hold) : duration{24h},
                           type};
    auto body = [this, &seen, &from_outside, how, work_for, while_releasing, type,
                 options = resource.options()](lease& held) -> asio::awaitable<int> {
        watched_lease watched{stage_.rules, process_, held, options};
        struct on_exit {
            scope_user& self;
            outcome& seen;
            ~on_exit()
            {
                if (self.stage_.world.is_dead(self.process_)) return;
                seen.body_over = self.stage_.world.now();
                seen.left = true;
                if (self.client_) seen.handoffs = self.client_->status().counters.handoffs;
            }
        } const tells{*this, seen};
        end_of_body const guard{stage_.world, process_, watched, how != manner::ignores};
        seen.value = watched.value();
        seen.entered = true;
        stage_.rules.turns().scope_begins(process_);
        if (how == manner::ignores) co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
        for (int slice = 0; slice < 3; ++slice) {
            write(watched);
            auto rest = sleep(work_for / 3);
            co_await std::move(rest);
        }
        write(watched);
        if (how == manner::throws) throw std::runtime_error{"the body failed"};
        seen.finished = true;
        if (while_releasing) from_outside.rather_after(stage_.world.chance.between(0ns, 2 * stage_.world.weather.max_delay), type);
        co_return 42;
    };

    stage_.rules.started(process_);
    stage_.rules.turns().scope_waits(process_);
    auto scope = asio::co_spawn(executor, with_lock(resource, body), asio::bind_cancellation_slot(from_outside.slot(), as_result));
    auto const [failure, value] = co_await std::move(scope);
    stage_.rules.ended(process_);

    if (!seen.entered) stage_.rules.turns().scope_gives_up(process_);
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
    expect_of_scope(ec, asio::error::operation_aborted, "with_lock");
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
        stage_.rules.keys().stored(std::string{resource.name()}, seen.value) >= most_of(stage_.world.servers().size()))
        stage_.rules.violation("a scope ended before its lock was released");
}

asio::awaitable<void> scope_user::use_rw_lock(redlock::rw_lock const& resource, bool reads)
{
    auto& chance = stage_.world.chance;
    auto const executor = co_await asio::this_coro::executor;
    bool const cancelled = chance.one_in(4);
    canceller from_outside{executor, cancelled ? chance.scaled(2 * stage_.longest_hold) : duration{24h}, asio::cancellation_type::terminal};
    auto place = place_for(resource, reads);
    auto const begin = stage_.world.now();
    bool entered = false;
    auto body = [this, &resource, &place, &entered, reads, begin](lease& held) -> asio::awaitable<void> {
        watched_lease watched{stage_.rules, process_, held, resource.options()};
        end_of_body const guard{stage_.world, process_, watched};
        entered = true;
        place.reset();
        stage_.rules.turns().scope_begins(process_);
        if (reads) stage_.rules.turns().reader_served(std::string{resource.name()}, begin);
        for (int slice = 0; slice < 2; ++slice) {
            write(watched);
            auto rest = sleep(time_to_hold() / 2);
            co_await std::move(rest);
        }
        write(watched);
    };
    stage_.rules.started(process_);
    stage_.rules.turns().scope_waits(process_);
    auto scope = reads ? asio::co_spawn(executor, with_shared_lock(resource, body),
                                        asio::bind_cancellation_slot(from_outside.slot(), as_result))
                       : asio::co_spawn(executor, with_lock(resource, body), asio::bind_cancellation_slot(from_outside.slot(), as_result));
    auto const [failure] = co_await std::move(scope);
    stage_.rules.ended(process_);
    if (!entered) stage_.rules.turns().scope_gives_up(process_);
    error_code const ec = error_of(failure);
    expect_of_scope(ec, asio::error::operation_aborted, reads ? "with_shared_lock" : "with_lock");
    if (ec == asio::error::operation_aborted && !cancelled) stage_.rules.violation("a scope was aborted by nobody");
}

asio::awaitable<void> scope_user::use_semaphore(redlock::semaphore const& resource)
{
    auto const executor = co_await asio::this_coro::executor;
    bool entered = false;
    auto body = [this, &resource, &entered](lease& held) -> asio::awaitable<void> {
        watched_lease watched{stage_.rules, process_, held, resource.options()};
        watched.of_permits(resource.permits());
        end_of_body const guard{stage_.world, process_, watched};
        entered = true;
        stage_.rules.turns().scope_begins(process_);
        write(watched);
        auto rest = sleep(time_to_hold());
        co_await std::move(rest);
        write(watched);
    };
    stage_.rules.started(process_);
    stage_.rules.turns().scope_waits(process_);
    auto scope = asio::co_spawn(executor, with_lock(resource, body), as_result);
    auto const [failure] = co_await std::move(scope);
    stage_.rules.ended(process_);
    if (!entered) stage_.rules.turns().scope_gives_up(process_);
    error_code const ec = error_of(failure);
    expect_of_scope(ec, errc::permits_differ, "with_lock on a semaphore");
}

}  // namespace redlock::simulation
