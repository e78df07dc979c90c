// What runs inside election::lead(): terms, one after the other, beside a wait for resign().
#ifndef REDLOCK_DETAIL_CAMPAIGN_HPP
#define REDLOCK_DETAIL_CAMPAIGN_HPP

#include <redlock/client.hpp>
#include <redlock/detail/access.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/initiation.hpp>
#include <redlock/detail/run_beside.hpp>
#include <redlock/detail/scope.hpp>
#include <redlock/lease.hpp>
#include <redlock/lock.hpp>
#include <redlock/with_lock.hpp>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancellation_state.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <chrono>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace redlock::detail {

struct pause_bounds {
    std::chrono::milliseconds min{};
    std::chrono::milliseconds max{};
};

struct term_settings {
    std::string address;
    pause_bounds pauses;
};

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

// What an election and its copies share.
class REDLOCK_API election_state {
public:
    void resign();
    void enter(std::weak_ptr<campaign_handle> what);

private:
    std::mutex mutex_;
    std::vector<std::weak_ptr<campaign_handle>> running_;
};

// Whether a term that ended like that is followed by another campaign.
REDLOCK_API bool campaigns_again(error_code why) noexcept;

// An address that a majority does not keep yet is published again, as long as the lease is valid.
REDLOCK_API asio::awaitable<void> publish_address(lease& held, std::string address);

// A random time between the bounds, of the client's clock.
REDLOCK_API asio::awaitable<void> pause_before_campaign(lock of, pause_bounds bounds);

template <class Body>
asio::awaitable<void> campaign(lock of, term_settings settings, Body& body)
{
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    for (;;) {
        bool ended_leading = false;
        std::exception_ptr thrown;
        auto term = [&](lease& held) -> asio::awaitable<void> {
            auto publishing = publish_address(held, settings.address);
            co_await std::move(publishing);
            try {
                auto running = std::invoke(body, held);
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

inline bool is_resignation(error_code) { return true; }

// Runs on the strand of the handle.
template <class Body>
asio::awaitable<void> campaign_until_resigned(std::shared_ptr<campaign_handle> handle, lock of, term_settings settings, Body& body)
{
    co_await asio::this_coro::reset_cancellation_state(asio::enable_total_cancellation());
    auto both = run_beside(handle->strand, campaign<Body>(std::move(of), std::move(settings), body),
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

template <class Body>
asio::awaitable<void> campaign_until_done(std::shared_ptr<election_state> state, lock of, term_settings settings, Body body)
{
    auto const executor = co_await asio::this_coro::executor;
    auto const handle = std::make_shared<campaign_handle>(executor);
    state->enter(handle);
    auto all = asio::co_spawn(handle->strand, campaign_until_resigned<Body>(handle, std::move(of), std::move(settings), body),
                              asio::use_awaitable);
    co_await std::move(all);
}

}  // namespace redlock::detail

#endif
