#include <redlock/detail/access.hpp>
#include <redlock/election.hpp>
#include <redlock/operation_error.hpp>
#include <redlock/with_lock.hpp>

#include "api/run_beside.hpp"
#include "api/terms.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <functional>
#include <limits>
#include <memory>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace redlock {

namespace {

constexpr std::chrono::hours longest_pause{1};

lock_options checked(std::string const& address, election_options const& options)
{
    auto const refuse = [](std::string const& why) { throw std::invalid_argument{"redlock::election: " + why}; };
    if (!options.lock.fencing) refuse("lock_options::fencing is off, but each term needs a token");
    if (address.size() > max_state_size)
        refuse("the address has " + std::to_string(address.size()) + " bytes, and " + std::to_string(max_state_size) + " is the most");
    if (options.min_pause < options.min_pause.zero() || options.max_pause > longest_pause)
        refuse("min_pause and max_pause are from 0 ms to an hour");
    if (options.max_pause < options.min_pause) refuse("max_pause is below min_pause");
    return options.lock;
}

}  // namespace

election::election(client const& owner, std::string name, std::string address, election_options const& options)
    : lock_{owner, std::move(name), checked(address, options)},
      address_{std::move(address)},
      options_{options},
      state_{std::make_shared<detail::election_state>()}
{
}

asio::awaitable<leader_info> election::look(lock of)
{
    auto looking = of.peek(asio::use_awaitable);
    lock_peek const seen = co_await std::move(looking);
    co_return in(seen);
}

// One that holds the lock and has published nothing does not lead yet, or is no candidate.
leader_info election::in(lock_peek const& seen)
{
    if (!seen.held || !seen.is_holders) return {};
    return {true, seen.state.value, seen.state.token, seen.host, seen.pid, seen.label, seen.since};
}

asio::awaitable<lock_peek> election::next_change(lock of, lock_peek last)
{
    auto change = of.wait_changed(last, asio::use_awaitable);
    co_return co_await std::move(change);
}

lock_peek election::nothing_yet()
{
    lock_peek p;
    p.marks.rank = std::numeric_limits<std::uint64_t>::max();
    return p;
}

namespace detail {

// One call of lead(). Its timer never expires: resign() cancels it.
struct campaign_handle {
    explicit campaign_handle(asio::any_io_executor const& on) : strand{asio::make_strand(on)}, resigned{strand}
    {
        resigned.expires_at(asio::steady_timer::time_point::max());
    }

    asio::strand<asio::any_io_executor> strand;
    asio::steady_timer resigned;
    bool has_resigned{false};  // on the strand
};

void election_state::enter(std::weak_ptr<campaign_handle> what)
{
    std::lock_guard const guard{mutex_};
    std::erase_if(running_, [](auto const& each) { return each.expired(); });
    running_.push_back(std::move(what));
}

void election_state::resign()
{
    std::lock_guard const guard{mutex_};
    for (auto const& each : running_) {
        auto const found = each.lock();
        if (!found) continue;
        asio::post(found->strand, [found] {
            found->has_resigned = true;
            found->resigned.cancel();
        });
    }
}

bool campaigns_again(error_code why) noexcept
{
    if (why == errc::client_cancelled || why == errc::self_deadlock || why == errc::ttl_too_long || why == errc::wrong_node_set)
        return false;
    return why == condition::lost || why == condition::not_acquired;
}

namespace {

// An address that a majority does not keep yet is published again, as long as the lease is valid.
asio::awaitable<void> publish_address(lease& held, std::string address)
{
    for (;;) {
        auto publishing = held.publish(address, asio::use_awaitable);
        try {
            co_await std::move(publishing);
            co_return;
        } catch (operation_error const& e) {
            if (e.code() != errc::no_majority || !held.valid()) throw;
        }
    }
}

// A random time between the bounds, of the client's clock.
asio::awaitable<void> pause_before_campaign(lock of, pause_bounds bounds)
{
    auto pausing = access::pause(of, bounds.min, bounds.max, asio::as_tuple(asio::use_awaitable));
    error_code ec;
    std::tie(ec) = co_await std::move(pausing);
    if (ec) throw operation_error{ec, of.name()};
}

asio::awaitable<void> campaign(lock of, term_settings settings, scope_work& work)
{
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    for (;;) {
        bool ended_leading = false;
        std::exception_ptr thrown;
        auto term = [&](lease& held) -> asio::awaitable<void> {
            auto publishing = publish_address(held, settings.address);
            co_await std::move(publishing);
            try {
                auto running = work.run(held);
                co_await std::move(running);
            } catch (...) {
                thrown = std::current_exception();
            }
            ended_leading = !held.lost_error();
            if (thrown) std::rethrow_exception(thrown);
        };
        try {
            auto scope = with_lock(of, std::ref(term));
            co_await std::move(scope);
            co_return;
        } catch (system_error const& e) {
            // A body that ended while it led does not run again, whatever became of the lock after that. What a body throws when its lease is lost is
            // not its own failure.
            if (ended_leading && !thrown) co_return;
            if (ended_leading) std::rethrow_exception(thrown);
            if (!campaigns_again(e.code())) throw;
        }
        auto pause = pause_before_campaign(of, settings.pauses);
        co_await std::move(pause);
    }
}

bool is_resignation(error_code) { return true; }

// Runs on the strand of the handle.
asio::awaitable<void> campaign_until_resigned(std::shared_ptr<campaign_handle> handle, lock of, term_settings settings, scope_work& work)
{
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    auto both = run_beside(handle->strand, campaign(std::move(of), std::move(settings), work),
                           handle->resigned.async_wait(asio::bind_executor(handle->strand, asio::deferred)), &is_resignation);
    std::exception_ptr const failure = co_await std::move(both);
    if (!failure) co_return;
    try {
        std::rethrow_exception(failure);
    } catch (system_error const& e) {
        if (handle->has_resigned && e.code() == asio::error::operation_aborted) co_return;
        throw;
    }
}

}  // namespace

asio::awaitable<void> campaign_until_done(std::shared_ptr<election_state> state, lock of, term_settings settings, scope_work& work)
{
    auto const executor = co_await asio::this_coro::executor;
    auto const handle = std::make_shared<campaign_handle>(executor);
    state->enter(handle);
    auto all = asio::co_spawn(handle->strand, campaign_until_resigned(handle, std::move(of), std::move(settings), work),
                              asio::use_awaitable);
    co_await std::move(all);
}

}  // namespace detail
}  // namespace redlock
