// The engine with a clock: its watchdog is one coroutine that sleeps until the next timer.
//
// `Clock` has the time points of boot_clock. The library uses boot_clock itself; simulations use a clock and a timer of
// their own, and specialise timer_for.
#ifndef REDLOCK_CLIENT_BASIC_CORE_HPP
#define REDLOCK_CLIENT_BASIC_CORE_HPP

#include "client/engine.hpp"

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/use_awaitable.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

namespace redlock::detail {

// Asio's timers sleep on the monotonic clock, which stops while the machine is suspended. They look at boot_clock again at
// least this often, so that a resumed machine notices soon that its leases have ended. Only without any timer they sleep for longer; nothing else is
// as far ahead as `idle`.
struct boot_wait_traits {
    static constexpr duration look_again = std::chrono::milliseconds{200};
    static constexpr duration look_again_when_idle = std::chrono::hours{1};
    static constexpr duration idle = 10 * std::chrono::days{365};

    static duration to_wait_duration(duration d) { return std::min(d, d >= idle / 2 ? look_again_when_idle : look_again); }
    static duration to_wait_duration(time_point t) { return to_wait_duration(t - boot_clock::now()); }
};

template <class Clock>
struct timer_for;

template <>
struct timer_for<boot_clock> {
    using type = asio::basic_waitable_timer<boot_clock, boot_wait_traits>;
};

template <class Clock>
class basic_core final : public engine {
public:
    using timer_type = typename timer_for<Clock>::type;

    static std::shared_ptr<basic_core> make(asio::any_io_executor outer, strand_type strand, std::vector<std::unique_ptr<node>> nodes,
                                            engine_settings settings)
    {
        auto made = std::shared_ptr<basic_core>{new basic_core{std::move(outer), strand, std::move(nodes), std::move(settings)}};
        made->env().wake = [raw = made.get()] { raw->wake_watchdog(); };
        auto& context = asio::query(strand, asio::execution::context);
        asio::use_service<context_service>(context).add(made);
        return made;
    }

private:
    basic_core(asio::any_io_executor outer, strand_type const& strand, std::vector<std::unique_ptr<node>> nodes, engine_settings settings)
        : engine{std::move(outer), strand, std::move(nodes), std::move(settings), &Clock::now}, timer_{std::in_place, strand}
    {
    }

    // It is there as long as the client runs, and before that while there is a timer: timers hold whether the client runs or not, but
    // must not keep an io_context busy that nobody wants anything of.
    void start_watchdog() override
    {
        if (std::exchange(watching_, true)) return;
        env().sleeping_until = time_point{};
        asio::co_spawn(strand(), watchdog(std::static_pointer_cast<basic_core>(shared_from_this())), [](std::exception_ptr failure) {
            if (failure) std::rethrow_exception(failure);
        });
    }

    void wake_watchdog()
    {
        if (stopped_) return;
        watching_ ? static_cast<void>(timer_->cancel()) : start_watchdog();
    }

    void stop_watchdog() override
    {
        stopped_ = true;
        timer_->cancel();
    }

    void destroy_watchdog() noexcept override
    {
        env().wake = nullptr;
        timer_.reset();
    }

    static asio::awaitable<void> watchdog(std::shared_ptr<basic_core> self)
    {
        environment& env = self->env();
        while (!self->stopped_ && (env.has_run || !env.pending.empty())) {
            env.sleeping_until = env.pending.empty() ? Clock::now() + boot_wait_traits::idle : env.pending.next();
            self->timer_->expires_at(env.sleeping_until);
            auto sleep = self->timer_->async_wait(asio::as_tuple(asio::use_awaitable));
            co_await std::move(sleep);  // woken or due makes no difference: the clock decides
            env.sleeping_until = time_point{};
            self->fire_due();
        }
        self->watching_ = false;
        env.sleeping_until = time_point::max();
    }

    // Calls the timers whose moment has come, and with them extensions that may as well share their round.
    void fire_due()
    {
        auto const now = Clock::now();
        bool rang = false;
        while (timer* const a = env().pending.pop_due(now)) {
            rang = true;
            a->on_timer(now);
        }
        if (!rang) return;
        while (timer* const a = env().pending.pop_early(now)) a->on_timer(now);
    }

    std::optional<timer_type> timer_;
    bool watching_{false};
    bool stopped_{false};
};

extern template class basic_core<boot_clock>;

}  // namespace redlock::detail

#endif
