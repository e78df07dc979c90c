// Operations for those who get errors as exceptions: coroutines and futures. They get an acquire_error or an operation_error, with the name of the lock and
// the reason, in place of a system_error with a code.
#ifndef REDLOCK_DETAIL_THROWING_HPP
#define REDLOCK_DETAIL_THROWING_HPP

#include <redlock/detail/core.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/failure_notes.hpp>
#include <redlock/detail/initiation.hpp>

#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>
#include <string_view>
#include <type_traits>
#include <utility>

namespace redlock::detail {

// The default completion token: asio::deferred, of an operation that throws.
struct deferred_throwing_t {};

template <class Token>
inline constexpr bool throws_errors = std::is_same_v<Token, deferred_throwing_t>;
template <class Executor>
inline constexpr bool throws_errors<asio::use_awaitable_t<Executor>> = true;
template <class Allocator>
inline constexpr bool throws_errors<asio::use_future_t<Allocator>> = true;

template <class Signature>
struct throwing_signature;
template <class... Results>
struct throwing_signature<void(error_code, Results...)> {
    using type = void(std::exception_ptr, Results...);
};

// What is thrown. `known`: what the core says (completion::explain); may be null.
REDLOCK_API std::exception_ptr to_acquire_error(error_code ec, failure_notes known);
REDLOCK_API std::exception_ptr to_operation_error(error_code ec, std::string_view lock, std::string_view reason);

// An acquisition that fails. The core tells the name of the lock, too: one that succeeds pays for nothing.
class acquire_failure {
public:
    explicit acquire_failure(lock_descriptor_ptr const&) noexcept {}

    failure_notes* notes() noexcept { return &notes_; }
    std::exception_ptr thrown(error_code ec) { return to_acquire_error(ec, std::move(notes_)); }

private:
    failure_notes notes_;
};

// Any other operation.
class operation_failure {
public:
    explicit operation_failure(lock_descriptor_ptr what) : what_{std::move(what)} {}

    failure_notes* notes() noexcept { return &notes_; }
    std::exception_ptr thrown(error_code ec) const
    {
        failure_note const none;
        failure_note const& known = notes_ ? *notes_ : none;
        return to_operation_error(ec, what_ ? what_->text() : known.lock, known.reason);
    }

private:
    lock_descriptor_ptr what_;  // may be null: a lease that is empty, or one that is still a ticket
    failure_notes notes_;
};

template <class Handler, class Failure>
class throwing_handler {
public:
    throwing_handler(Handler&& handler, Failure failure) : handler_{std::move(handler)}, failure_{std::move(failure)} {}

    Handler const& inner() const noexcept { return handler_; }
    failure_notes* notes() noexcept { return failure_.notes(); }

    template <class... Results>
    void operator()(error_code ec, Results... results)
    {
        std::exception_ptr thrown = ec ? failure_.thrown(ec) : nullptr;
        std::move(handler_)(std::move(thrown), std::move(results)...);
    }

private:
    Handler handler_;
    Failure failure_;
};

// Starts what `Initiation` starts, for a handler that gets errors as exceptions. `about()` of the initiation is the lock.
template <class Initiation>
class initiate_throwing {
public:
    using executor_type = typename Initiation::executor_type;

    explicit initiate_throwing(Initiation what) : what_{std::move(what)} {}

    executor_type get_executor() const noexcept { return what_.get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler) const&
    {
        what_(to_throw(std::forward<Handler>(handler)));
    }
    template <class Handler>
    void operator()(Handler&& handler) &&
    {
        auto throwing = to_throw(std::forward<Handler>(handler));
        std::move(what_)(std::move(throwing));
    }

private:
    template <class Handler>
    auto to_throw(Handler&& handler) const
    {
        using failure = std::conditional_t<std::is_same_v<Initiation, initiate_acquire>, acquire_failure, operation_failure>;
        return throwing_handler<std::decay_t<Handler>, failure>{std::forward<Handler>(handler), failure{what_.about()}};
    }

    Initiation what_;
};

// Starts an operation, for whichever token.
template <class Signature, class CompletionToken, class Initiation>
auto start_operation(std::remove_reference_t<CompletionToken>& token, Initiation&& what)
{
    using token_type = std::decay_t<CompletionToken>;
    using throwing_type = typename throwing_signature<Signature>::type;
    using initiation = initiate_throwing<std::decay_t<Initiation>>;
    if constexpr (std::is_same_v<token_type, deferred_throwing_t>) {
        return asio::async_initiate<asio::deferred_t const, throwing_type>(initiation{std::forward<Initiation>(what)}, asio::deferred);
    } else if constexpr (throws_errors<token_type>) {
        return asio::async_initiate<CompletionToken, throwing_type>(initiation{std::forward<Initiation>(what)}, token);
    } else {
        return asio::async_initiate<CompletionToken, Signature>(std::forward<Initiation>(what), token);
    }
}

}  // namespace redlock::detail

namespace boost::asio {

// So that it counts as a completion token. The operations themselves look at it before.
template <class... Results>
class async_result<redlock::detail::deferred_throwing_t, void(redlock::error_code, Results...)> {
public:
    template <class Initiation, class... Args>
    static void initiate(Initiation&&, redlock::detail::deferred_throwing_t const&, Args&&...)
    {
    }
};

template <template <class, class> class Associator, class Handler, class Failure, class DefaultCandidate>
struct associator<Associator, redlock::detail::throwing_handler<Handler, Failure>, DefaultCandidate>
    : Associator<Handler, DefaultCandidate> {
    static auto get(redlock::detail::throwing_handler<Handler, Failure> const& h) noexcept
    {
        return Associator<Handler, DefaultCandidate>::get(h.inner());
    }
    static auto get(redlock::detail::throwing_handler<Handler, Failure> const& h, DefaultCandidate const& c) noexcept
        -> decltype(Associator<Handler, DefaultCandidate>::get(h.inner(), c))
    {
        return Associator<Handler, DefaultCandidate>::get(h.inner(), c);
    }
};

}  // namespace boost::asio

#endif
