// The initiation objects of all operations: structs with an executor (so that tokens like cancel_after work) whose
// constructors make them non-aggregates (g++ 12 destroys aggregate temporaries twice inside co_await expressions).
#ifndef REDLOCK_DETAIL_INITIATION_HPP
#define REDLOCK_DETAIL_INITIATION_HPP

#include <redlock/detail/core.hpp>
#include <redlock/detail/export.hpp>
#include <redlock/detail/lease_state.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/associated_executor.hpp>

#include <memory>
#include <type_traits>
#include <utility>

namespace redlock::detail {

// Starts an operation of the client itself.
class initiate_on_core {
public:
    using executor_type = asio::any_io_executor;
    using operation = void (core::*)(plain_handler&&);

    initiate_on_core(std::shared_ptr<core> target, operation what) : target_{std::move(target)}, what_{what} {}

    executor_type get_executor() const noexcept { return target_->get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        ((*target_).*what_)(plain_handler{std::forward<Handler>(handler), target_->get_executor()});
    }

private:
    std::shared_ptr<core> target_;
    operation what_;
};

class initiate_acquire {
public:
    using executor_type = asio::any_io_executor;

    initiate_acquire(std::shared_ptr<core> target, acquire_request request) : target_{std::move(target)}, request_{std::move(request)} {}

    executor_type get_executor() const noexcept { return target_->get_executor(); }

    // A template, because `lease_handler` holds a lease, which is not complete here.
    template <class Handler>
    void operator()(Handler&& handler) const&
    {
        start(acquire_request{request_}, std::forward<Handler>(handler));
    }
    template <class Handler>
    void operator()(Handler&& handler) &&
    {
        start(std::move(request_), std::forward<Handler>(handler));
    }

private:
    template <class Handler>
    void start(acquire_request&& request, Handler&& handler) const
    {
        target_->acquire(std::move(request), lease_handler{std::forward<Handler>(handler), target_->get_executor()});
    }

    std::shared_ptr<core> target_;
    acquire_request request_;
};

class initiate_adopt {
public:
    using executor_type = asio::any_io_executor;

    initiate_adopt(std::shared_ptr<core> target, adopt_request request) : target_{std::move(target)}, request_{std::move(request)} {}

    executor_type get_executor() const noexcept { return target_->get_executor(); }

    // A template, for the same reason.
    template <class Handler>
    void operator()(Handler&& handler) const
    {
        target_->adopt(adopt_request{request_}, lease_handler{std::forward<Handler>(handler), target_->get_executor()});
    }

private:
    std::shared_ptr<core> target_;
    adopt_request request_;
};

// Starts an operation on a lease. An empty lease has no client: its operations complete at once with `not_held`, on
// the handler's own executor.
class REDLOCK_API initiate_on_lease {
public:
    using executor_type = asio::any_io_executor;
    using operation = void (core::*)(std::shared_ptr<lease_state>&&, plain_handler&&);

    initiate_on_lease(std::shared_ptr<lease_state> state, operation what) : state_{std::move(state)}, what_{what} {}

    executor_type get_executor() const noexcept { return fallback(); }

    template <class Handler>
    void operator()(Handler&& handler) const&
    {
        start(std::shared_ptr<lease_state>{state_}, plain_handler{std::forward<Handler>(handler), fallback()});
    }
    template <class Handler>
    void operator()(Handler&& handler) &&
    {
        start(std::move(state_), plain_handler{std::forward<Handler>(handler), fallback()});
    }

private:
    // The client's executor; the system's, if the lease is empty.
    executor_type const& fallback() const noexcept;
    void start(std::shared_ptr<lease_state>&& state, plain_handler&& handler) const;

    std::shared_ptr<lease_state> state_;
    operation what_;
};

}  // namespace redlock::detail

#endif
