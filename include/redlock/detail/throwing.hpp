// acquire() and try_acquire() for those who get errors as exceptions: coroutines and futures. They get an acquire_error, with the name of the lock and the
// reason, in place of a system_error with a code.
#ifndef REDLOCK_DETAIL_THROWING_HPP
#define REDLOCK_DETAIL_THROWING_HPP

#include <redlock/attempt_report.hpp>
#include <redlock/detail/core.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/lease.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associator.hpp>
#include <boost/asio/async_result.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/use_future.hpp>

#include <exception>
#include <memory>
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

// What is thrown.
REDLOCK_API std::exception_ptr to_acquire_error(error_code ec, std::string_view lock, attempt_report last);

template <class Handler>
class throwing_handler {
public:
    throwing_handler(Handler&& handler, lock_descriptor_ptr what, attempt_report* report)
        : handler_{std::move(handler)},
          what_{std::move(what)},
          own_{report ? nullptr : std::make_unique<attempt_report>()},
          report_{report ? report : own_.get()}
    {
    }

    attempt_report* report() const noexcept { return report_; }
    Handler const& inner() const noexcept { return handler_; }

    void operator()(error_code ec, lease got)
    {
        auto failure = ec ? to_acquire_error(ec, what_->text(), *report_) : nullptr;
        std::move(handler_)(std::move(failure), std::move(got));
    }

private:
    Handler handler_;
    lock_descriptor_ptr what_;
    std::unique_ptr<attempt_report> own_;
    attempt_report* report_;
};

class initiate_throwing_acquire {
public:
    using executor_type = asio::any_io_executor;

    initiate_throwing_acquire(std::shared_ptr<core> target, acquire_request request)
        : target_{std::move(target)}, request_{std::move(request)}
    {
    }

    executor_type get_executor() const noexcept { return target_->get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        throwing_handler<std::decay_t<Handler>> throwing{std::forward<Handler>(handler), request_.what, request_.report};
        acquire_request request{request_};
        request.report = throwing.report();
        target_->acquire(std::move(request), lease_handler{std::move(throwing), target_->get_executor()});
    }

private:
    std::shared_ptr<core> target_;
    acquire_request request_;
};

}  // namespace redlock::detail

namespace boost::asio {

// So that it counts as a completion token. The operations themselves look at it before.
template <class Lease>
class async_result<redlock::detail::deferred_throwing_t, void(redlock::error_code, Lease)> {
public:
    template <class Initiation, class... Args>
    static void initiate(Initiation&&, redlock::detail::deferred_throwing_t const&, Args&&...)
    {
    }
};

template <template <class, class> class Associator, class Handler, class DefaultCandidate>
struct associator<Associator, redlock::detail::throwing_handler<Handler>, DefaultCandidate> : Associator<Handler, DefaultCandidate> {
    static auto get(redlock::detail::throwing_handler<Handler> const& h) noexcept
    {
        return Associator<Handler, DefaultCandidate>::get(h.inner());
    }
    static auto get(redlock::detail::throwing_handler<Handler> const& h, DefaultCandidate const& c) noexcept
        -> decltype(Associator<Handler, DefaultCandidate>::get(h.inner(), c))
    {
        return Associator<Handler, DefaultCandidate>::get(h.inner(), c);
    }
};

}  // namespace boost::asio

#endif
