// Time that passes only when a test sets it: a clock and a timer for basic_core, and for the coroutines of tests.
#ifndef REDLOCK_TESTING_VIRTUAL_TIME_HPP
#define REDLOCK_TESTING_VIRTUAL_TIME_HPP

#include "client/basic_core.hpp"

#include <redlock/clock.hpp>
#include <redlock/detail/completion.hpp>

#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/error.hpp>
#include <boost/asio/execution_context.hpp>
#include <boost/asio/query.hpp>

#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <utility>

namespace redlock::testing {

using detail::duration;
using detail::time_point;

// One timeline for the whole test program, which works on one thread.
class virtual_clock {
public:
    static time_point now() noexcept { return current; }
    static inline time_point current{std::chrono::hours{1}};
};

// The waits of all timers on one context. A service of the context, so that the handlers are destroyed with it.
class virtual_time final : public asio::execution_context::service {
public:
    static inline asio::execution_context::id id;

    struct wait {
        detail::completion<error_code> done;
        void const* timer;
    };

    explicit virtual_time(asio::execution_context& context) : service{context} {}

    bool empty() const noexcept { return waits_.empty(); }
    std::size_t size() const noexcept { return waits_.size(); }
    time_point next() const noexcept { return waits_.begin()->first; }

    void add(time_point at, std::shared_ptr<wait> w) { waits_.emplace(at, std::move(w)); }

    // Completes the waits whose time has come.
    void fire_due(time_point now)
    {
        while (!waits_.empty() && next() <= now) {
            auto const w = waits_.begin()->second;
            waits_.erase(waits_.begin());
            w->done(error_code{});
        }
    }

    // Completes one of the waits whose time has come: the one whose index `choose` returns, given how many there are.
    template <class Choose>
    void ring_one(time_point now, Choose choose)
    {
        auto const due = std::distance(waits_.begin(), waits_.upper_bound(now));
        if (due == 0) return;
        auto const it = std::next(waits_.begin(), due == 1 ? 0 : static_cast<std::ptrdiff_t>(choose(static_cast<std::size_t>(due))));
        auto const w = it->second;
        waits_.erase(it);
        w->done(error_code{});
    }

    template <class Predicate>
    void cancel(Predicate which)
    {
        for (auto it = waits_.begin(); it != waits_.end();) {
            if (!which(*it->second)) {
                ++it;
                continue;
            }
            auto const w = it->second;
            it = waits_.erase(it);
            w->done(asio::error::operation_aborted);
        }
    }

private:
    void shutdown() override { auto const gone = std::exchange(waits_, {}); }

    std::multimap<time_point, std::shared_ptr<wait>> waits_;
};

template <class Clock>
class basic_virtual_timer {
public:
    using executor_type = asio::any_io_executor;

    explicit basic_virtual_timer(asio::any_io_executor executor)
        : executor_{std::move(executor)}, time_{&asio::use_service<virtual_time>(asio::query(executor_, asio::execution::context))}
    {
    }
    basic_virtual_timer(asio::any_io_executor executor, duration after) : basic_virtual_timer{std::move(executor)} { expires_after(after); }
    basic_virtual_timer(basic_virtual_timer const&) = delete;
    basic_virtual_timer& operator=(basic_virtual_timer const&) = delete;
    ~basic_virtual_timer() { cancel(); }

    void expires_at(time_point at)
    {
        cancel();
        at_ = at;
    }
    void expires_after(duration d) { expires_at(Clock::now() + d); }

    void cancel()
    {
        time_->cancel([this](virtual_time::wait const& w) { return w.timer == this; });
    }

    void wait(detail::completion<error_code> done)
    {
        auto slot = done.slot();
        auto const w = std::make_shared<virtual_time::wait>(std::move(done), this);
        if (slot.is_connected()) {
            slot.assign([time = time_, raw = w.get()](asio::cancellation_type_t) {
                time->cancel([raw](virtual_time::wait const& each) { return &each == raw; });
            });
        }
        time_->add(at_, w);
    }

    template <class CompletionToken = asio::deferred_t>
    auto async_wait(CompletionToken&& token = {})
    {
        return asio::async_initiate<CompletionToken, void(error_code)>(initiate{this}, token);
    }

private:
    class initiate {
    public:
        using executor_type = asio::any_io_executor;
        explicit initiate(basic_virtual_timer* timer) : timer_{timer} {}
        executor_type get_executor() const noexcept { return timer_->executor_; }

        template <class Handler>
        void operator()(Handler&& handler) const
        {
            timer_->wait(detail::completion<error_code>{std::forward<Handler>(handler), timer_->executor_});
        }

    private:
        basic_virtual_timer* timer_;
    };

    asio::any_io_executor executor_;
    virtual_time* time_;
    time_point at_{};
};

using virtual_timer = basic_virtual_timer<virtual_clock>;

}  // namespace redlock::testing

namespace redlock::detail {

template <>
struct timer_for<testing::virtual_clock> {
    using type = testing::virtual_timer;
};

}  // namespace redlock::detail

#endif
