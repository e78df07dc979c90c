// Completion tokens with a time limit: asio::cancel_after and asio::cancel_at.
#ifndef REDLOCK_DETAIL_TIME_LIMIT_HPP
#define REDLOCK_DETAIL_TIME_LIMIT_HPP

#include <boost/asio/async_result.hpp>
#include <boost/asio/cancel_after.hpp>
#include <boost/asio/cancel_at.hpp>

#include <type_traits>
#include <utility>

namespace redlock::detail {

namespace asio = boost::asio;

// Those whose timer is that of the operation, and not the caller's.
template <class Token>
inline constexpr bool has_time_limit = false;
template <class Inner, class Clock, class WaitTraits>
inline constexpr bool has_time_limit<asio::cancel_after_t<Inner, Clock, WaitTraits>> = true;
template <class Inner, class Clock, class WaitTraits>
inline constexpr bool has_time_limit<asio::cancel_at_t<Inner, Clock, WaitTraits>> = true;

// The token within, to be copied or moved as the whole one.
template <class CompletionToken, bool = std::is_lvalue_reference_v<CompletionToken>>
struct unlimited {
    using type = decltype((std::declval<std::remove_reference_t<CompletionToken>&>().token_));
};
template <class CompletionToken>
struct unlimited<CompletionToken, false> {
    using type = decltype(std::declval<std::remove_reference_t<CompletionToken>&>().token_);
};
template <class CompletionToken>
using unlimited_t = typename unlimited<CompletionToken>::type;

// A token that is its own handler.
template <class Token, class Signature>
concept callback = std::is_same_v<typename asio::async_result<Token, Signature>::completion_handler_type, Token>;

// Such a limit for a callback. Other tokens say where their handlers run, or start the operation later.
template <class CompletionToken, class Signature>
concept limited_callback = has_time_limit<std::decay_t<CompletionToken>> && callback<std::decay_t<unlimited_t<CompletionToken>>, Signature>;

}  // namespace redlock::detail

#endif
