// Completion tokens with a time limit: asio::cancel_after and asio::cancel_at. Asio gives such an operation a timer of its executor. An empty lease has no
// client, so that would be the system executor, whose threads would call handlers; but it has nothing to wait for, and needs no limit.
#ifndef REDLOCK_DETAIL_TIME_LIMIT_HPP
#define REDLOCK_DETAIL_TIME_LIMIT_HPP

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_cancellation_slot.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>
#include <boost/asio/deferred.hpp>

#include <type_traits>
#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

// In place of what a limit is for.
struct limits_nothing {};

// Whether a token has a limit, at whatever depth; the token without it; and the limits alone.
template <class Token>
struct time_limit : std::false_type {
    template <class T>
    static std::decay_t<T> removed(T&& token)
    {
        return std::forward<T>(token);
    }
    static limits_nothing alone(Token const&) { return {}; }
};

template <class Inner>
struct outer_limit : std::true_type {
    template <class T>
    static auto removed(T&& token)
    {
        return time_limit<Inner>::removed(std::forward<T>(token).token_);
    }
};
template <class Inner, class Clock, class WaitTraits>
struct time_limit<asio::cancel_after_t<Inner, Clock, WaitTraits>> : outer_limit<Inner> {
    static auto alone(asio::cancel_after_t<Inner, Clock, WaitTraits> const& token)
    {
        auto inner = time_limit<Inner>::alone(token.token_);
        return asio::cancel_after_t<decltype(inner), Clock, WaitTraits>{inner, token.timeout_, token.cancel_type_};
    }
};
template <class Inner, class Clock, class WaitTraits>
struct time_limit<asio::cancel_at_t<Inner, Clock, WaitTraits>> : outer_limit<Inner> {
    static auto alone(asio::cancel_at_t<Inner, Clock, WaitTraits> const& token)
    {
        auto inner = time_limit<Inner>::alone(token.token_);
        return asio::cancel_at_t<decltype(inner), Clock, WaitTraits>{inner, token.expiry_, token.cancel_type_};
    }
};

// asio::cancel_after(1s): for Asio's default token.
template <class Clock, class WaitTraits>
struct time_limit<asio::partial_cancel_after<Clock, WaitTraits>> : std::true_type {
    using token_type = asio::partial_cancel_after<Clock, WaitTraits>;

    static asio::deferred_t removed(token_type const&) { return {}; }
    static auto alone(token_type const& token) { return token(limits_nothing{}); }
};
template <class Clock, class WaitTraits>
struct time_limit<asio::partial_cancel_at<Clock, WaitTraits>> : std::true_type {
    using token_type = asio::partial_cancel_at<Clock, WaitTraits>;

    static asio::deferred_t removed(token_type const&) { return {}; }
    static auto alone(token_type const& token) { return token(limits_nothing{}); }
};

// Adapters stay with the token, whose handler is what the limits are put around.
template <class Inner, class Executor>
struct time_limit<asio::executor_binder<Inner, Executor>> : std::bool_constant<time_limit<Inner>::value> {
    template <class T>
    static auto removed(T&& token)
    {
        return asio::bind_executor(token.get_executor(), time_limit<Inner>::removed(std::forward<T>(token).get()));
    }
    static auto alone(asio::executor_binder<Inner, Executor> const& token) { return time_limit<Inner>::alone(token.get()); }
};
template <class Inner, class Slot>
struct time_limit<asio::cancellation_slot_binder<Inner, Slot>> : std::bool_constant<time_limit<Inner>::value> {
    template <class T>
    static auto removed(T&& token)
    {
        return asio::bind_cancellation_slot(token.get_cancellation_slot(), time_limit<Inner>::removed(std::forward<T>(token).get()));
    }
    static auto alone(asio::cancellation_slot_binder<Inner, Slot> const& token) { return time_limit<Inner>::alone(token.get()); }
};
template <class Inner>
struct time_limit<asio::as_tuple_t<Inner>> : std::bool_constant<time_limit<Inner>::value> {
    template <class T>
    static auto removed(T&& token)
    {
        return asio::as_tuple(time_limit<Inner>::removed(std::forward<T>(token).token_));
    }
    static auto alone(asio::as_tuple_t<Inner> const& token) { return time_limit<Inner>::alone(token.token_); }
};

template <class CompletionToken>
concept limited = time_limit<std::decay_t<CompletionToken>>::value;

// The handler with limits around it.
template <class Handler>
std::decay_t<Handler> within(limits_nothing, Handler&& handler)
{
    return std::forward<Handler>(handler);
}
template <class Inner, class Clock, class WaitTraits, class Handler>
auto within(asio::cancel_after_t<Inner, Clock, WaitTraits> const& limit, Handler&& handler)
{
    auto inner = within(limit.token_, std::forward<Handler>(handler));
    return asio::cancel_after_t<decltype(inner), Clock, WaitTraits>{std::move(inner), limit.timeout_, limit.cancel_type_};
}
template <class Inner, class Clock, class WaitTraits, class Handler>
auto within(asio::cancel_at_t<Inner, Clock, WaitTraits> const& limit, Handler&& handler)
{
    auto inner = within(limit.token_, std::forward<Handler>(handler));
    return asio::cancel_at_t<decltype(inner), Clock, WaitTraits>{std::move(inner), limit.expiry_, limit.cancel_type_};
}

// Starts an operation on a lease with limits, or without them, if the lease is empty. Only when it is started is that known to matter: an operation can be
// deferred.
template <class Signature, class Initiation, class Limits>
class initiate_limited {
public:
    using executor_type = typename Initiation::executor_type;

    initiate_limited(Initiation what, Limits limits) : what_{std::move(what)}, limits_{std::move(limits)} {}

    executor_type get_executor() const noexcept { return what_.get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        if (what_.is_empty()) return what_(std::forward<Handler>(handler));
        auto token = within(limits_, std::forward<Handler>(handler));
        asio::async_initiate<decltype(token), Signature>(what_, token);
    }

private:
    Initiation what_;
    Limits limits_;
};

template <class Signature, class CompletionToken, class Initiation>
auto start_limited(std::remove_reference_t<CompletionToken>& token, Initiation&& what)
{
    using limit = time_limit<std::decay_t<CompletionToken>>;
    auto limits = limit::alone(token);
    using initiation = initiate_limited<Signature, std::decay_t<Initiation>, decltype(limits)>;
    auto unlimited = limit::removed(std::forward<CompletionToken>(token));
    return asio::async_initiate<decltype(unlimited), Signature>(initiation{std::forward<Initiation>(what), std::move(limits)}, unlimited);
}

}  // namespace redlock::detail

#endif
