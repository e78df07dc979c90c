// Completion tokens with a time limit: asio::cancel_after and asio::cancel_at.
#ifndef REDLOCK_DETAIL_TIME_LIMIT_HPP
#define REDLOCK_DETAIL_TIME_LIMIT_HPP

#include <boost/asio/async_result.hpp>
#include <boost/asio/bind_executor.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>

#include <type_traits>
#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

// Whether a token has a limit, and the token without it.
template <class Token>
struct time_limit : std::false_type {};

// The token within. It may have a limit, too.
struct outer_limit : std::true_type {
    template <class Token>
    static auto removed(Token&& token)
    {
        using inner = std::decay_t<decltype((token.token_))>;
        if constexpr (time_limit<inner>::value) {
            return time_limit<inner>::removed(std::forward<Token>(token).token_);
        } else {
            return inner{std::forward<Token>(token).token_};
        }
    }
};
template <class Inner, class Clock, class WaitTraits>
struct time_limit<asio::cancel_after_t<Inner, Clock, WaitTraits>> : outer_limit {};
template <class Inner, class Clock, class WaitTraits>
struct time_limit<asio::cancel_at_t<Inner, Clock, WaitTraits>> : outer_limit {};

template <class Inner, class Executor>
struct time_limit<asio::executor_binder<Inner, Executor>> : time_limit<Inner> {
    template <class Token>
    static auto removed(Token&& token)
    {
        return asio::bind_executor(token.get_executor(), time_limit<Inner>::removed(std::forward<Token>(token).get()));
    }
};

template <class CompletionToken>
auto without_limit(CompletionToken&& token)
{
    return time_limit<std::decay_t<CompletionToken>>::removed(std::forward<CompletionToken>(token));
}

// A token that is its own handler.
template <class Token, class Signature>
concept callback = std::is_same_v<typename asio::async_result<Token, Signature>::completion_handler_type, Token>;

// Such a limit for a callback. Other tokens say where their handlers run, or start the operation later.
template <class CompletionToken, class Signature>
concept limited_callback = time_limit<std::decay_t<CompletionToken>>::value &&
                           callback<decltype(without_limit(std::declval<CompletionToken>())), Signature>;

}  // namespace redlock::detail

#endif
