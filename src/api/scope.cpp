#include <redlock/acquire_error.hpp>
#include <redlock/detail/access.hpp>
#include <redlock/detail/scope.hpp>
#include <redlock/operation_error.hpp>
#include <redlock/scope_error.hpp>

#include "api/run_beside.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <exception>
#include <memory>
#include <tuple>
#include <utility>

namespace redlock::detail {

namespace {

// What the body awaits is known by its slot while it runs, and not after, when something else may have the slot's place in memory.
class body_mark {
public:
    body_mark(scope_coroutines& of, asio::cancellation_slot body) noexcept : of_{of} { of_.body = body; }
    ~body_mark() { of_.body = asio::cancellation_slot{}; }
    body_mark(body_mark const&) = delete;
    body_mark& operator=(body_mark const&) = delete;

private:
    scope_coroutines& of_;
};

asio::awaitable<void> run_body(scope_work& work, lease& held, scope_coroutines& coroutines)
{
    auto const own_cancellation = co_await asio::this_coro::cancellation_state;
    body_mark const mark{coroutines, own_cancellation.slot()};
    auto running = work.run(held);
    co_await std::move(running);
}

bool is_loss(error_code ec) { return ec == condition::lost; }

// Why the body cannot have had the lock to its end. A client that was cancelled extends no more, but the nodes keep the lock for a body that returned in time.
error_code loss_of(lease const& held, bool returned) noexcept
{
    error_code const why = held.lost_error();
    return returned && why == errc::client_cancelled && access::is_in_time(held) ? error_code{} : why;
}

asio::awaitable<void> run_on_strand(lock resource, attempt_report& report, scope_work& work, asio::cancellation_slot asker)
{
    auto const strand = co_await asio::this_coro::executor;
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    error_code not_acquired;
    lease held;
    auto const coroutines = std::make_shared<scope_coroutines>(asker);
    auto acquisition = access::acquire_for(resource, coroutines, report, asio::as_tuple(asio::use_awaitable));
    std::tie(not_acquired, held) = co_await std::move(acquisition);
    if (not_acquired) throw acquire_error{not_acquired, resource.name(), report};

    // From here on every way leads to the release below: no await may throw because of a cancellation.
    co_await asio::this_coro::throw_if_cancelled(false);
    auto const cancellation = co_await asio::this_coro::cancellation_state;
    if (cancellation.cancelled() != asio::cancellation_type::none)
        throw acquire_error{asio::error::operation_aborted, resource.name(), report};  // ~lease hands the release to the client

    auto both = run_beside(strand, run_body(work, held, *coroutines), held.wait_lost(asio::bind_executor(strand, asio::deferred)),
                           &is_loss);
    std::exception_ptr const thrown = co_await std::move(both);

    co_await asio::this_coro::reset_cancellation_state(asio::disable_cancellation());
    access::scope_ended(held);
    if (error_code const lost = loss_of(held, !thrown)) throw scope_error{lost, resource.name(), thrown, access::loss_reason(held)};
    if (access::is_to_release(held)) {
        // That too few nodes confirmed the release, or that the client was cancelled meanwhile, changes nothing for the body's work: event::released has it.
        auto releasing = held.release(asio::use_awaitable);
        try {
            co_await std::move(releasing);
        } catch (operation_error const& e) {
            if (is_loss(e.code()) && e.code() != errc::client_cancelled) throw scope_error{e.code(), resource.name(), thrown, e.reason()};
        }
    }
    if (thrown) std::rethrow_exception(thrown);
}

}  // namespace

asio::awaitable<void> run_scope(lock resource, attempt_report* report, scope_work& work)
{
    auto const caller = co_await asio::this_coro::executor;
    auto const callers_cancellation = co_await asio::this_coro::cancellation_state;
    attempt_report unseen;
    auto scope = asio::co_spawn(asio::make_strand(caller),
                                run_on_strand(std::move(resource), report ? *report : unseen, work, callers_cancellation.slot()),
                                asio::use_awaitable);
    co_await std::move(scope);
}

}  // namespace redlock::detail
