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
#include <string>
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

    lock_descriptor_ptr const& about() const noexcept { return request_.what; }

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

    // The core reads it in the ticket.
    static lock_descriptor_ptr about() noexcept { return nullptr; }

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

class initiate_peek {
public:
    using executor_type = asio::any_io_executor;

    initiate_peek(std::shared_ptr<core> target, peek_request request) : target_{std::move(target)}, request_{std::move(request)} {}

    executor_type get_executor() const noexcept { return target_->get_executor(); }
    lock_descriptor_ptr const& about() const noexcept { return request_.what; }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        target_->peek(peek_request{request_}, peek_handler{std::forward<Handler>(handler), target_->get_executor()});
    }

private:
    std::shared_ptr<core> target_;
    peek_request request_;
};

class initiate_pause {
public:
    using executor_type = asio::any_io_executor;

    initiate_pause(std::shared_ptr<core> target, boot_clock::duration min, boot_clock::duration max)
        : target_{std::move(target)}, min_{min}, max_{max}
    {
    }

    executor_type get_executor() const noexcept { return target_->get_executor(); }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        target_->pause(min_, max_, plain_handler{std::forward<Handler>(handler), target_->get_executor()});
    }

private:
    std::shared_ptr<core> target_;
    boot_clock::duration min_;
    boot_clock::duration max_;
};

class initiate_available {
public:
    using executor_type = asio::any_io_executor;

    initiate_available(std::shared_ptr<core> target, permit_query what, lock_descriptor_ptr about)
        : target_{std::move(target)}, what_{std::move(what)}, about_{std::move(about)}
    {
    }

    executor_type get_executor() const noexcept { return target_->get_executor(); }
    lock_descriptor_ptr const& about() const noexcept { return about_; }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        target_->ask_permits(permit_query{what_}, permits_handler{std::forward<Handler>(handler), target_->get_executor()});
    }

private:
    std::shared_ptr<core> target_;
    permit_query what_;
    lock_descriptor_ptr about_;
};

// Starts an operation on a lease. An empty lease has no client: its operations complete at once with `not_held`, on
// the handler's own executor, or in place if it has none.
class REDLOCK_API initiate_on_lease {
public:
    using executor_type = asio::any_io_executor;
    using operation = void (lease_core::*)(std::shared_ptr<lease_state>&&, plain_handler&&);

    initiate_on_lease(std::shared_ptr<lease_state> state, operation what) : state_{std::move(state)}, what_{what} {}

    executor_type get_executor() const noexcept { return executor_of(state_); }
    bool is_empty() const noexcept { return !state_; }
    lock_descriptor_ptr about() const noexcept { return descriptor_of(state_); }

    template <class Handler>
    void operator()(Handler&& handler) const&
    {
        start(std::shared_ptr<lease_state>{state_}, plain_handler{std::forward<Handler>(handler), fallback_of(state_, handler)});
    }
    template <class Handler>
    void operator()(Handler&& handler) &&
    {
        start(std::move(state_), plain_handler{std::forward<Handler>(handler), fallback_of(state_, handler)});
    }

    // The client's executor; the system's, if the lease is empty.
    static executor_type const& executor_of(std::shared_ptr<lease_state> const& state) noexcept;

    // Null, if the lease is empty.
    static lock_descriptor_ptr descriptor_of(std::shared_ptr<lease_state> const& state) noexcept;

    // Where a handler without an executor is called, and one whose executor cannot be posted to comes from: the client's. Of an empty lease, in place, and
    // from a thread of the system.
    template <class Handler>
    static executor_type const& fallback_of(std::shared_ptr<lease_state> const& state, Handler const& handler)
    {
        return !state && is_default(asio::get_associated_executor(handler)) ? in_place() : executor_of(state);
    }

private:
    // Whether that is what Asio takes for handlers without an executor: the system's, or, in newer versions of Boost, one that calls in place.
    template <class Executor>
    static bool is_default(Executor const& executor) noexcept
    {
        using without = asio::associated_executor_t<void (*)()>;
        if constexpr (requires { executor.template target<without>(); }) {
            return executor.template target<without>() != nullptr;
        } else {
            return std::is_same_v<Executor, without>;
        }
    }
    static executor_type const& in_place() noexcept;
    void start(std::shared_ptr<lease_state>&& state, plain_handler&& handler) const;

    std::shared_ptr<lease_state> state_;
    operation what_;
};

class REDLOCK_API initiate_publish {
public:
    using executor_type = asio::any_io_executor;

    initiate_publish(std::shared_ptr<lease_state> state, std::string bytes) : state_{std::move(state)}, bytes_{std::move(bytes)} {}

    executor_type get_executor() const noexcept { return initiate_on_lease::executor_of(state_); }
    bool is_empty() const noexcept { return !state_; }
    lock_descriptor_ptr about() const noexcept { return initiate_on_lease::descriptor_of(state_); }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        start(plain_handler{std::forward<Handler>(handler), initiate_on_lease::fallback_of(state_, handler)});
    }

private:
    void start(plain_handler&& handler) const;

    std::shared_ptr<lease_state> state_;
    std::string bytes_;
};

class REDLOCK_API initiate_inherited {
public:
    using executor_type = asio::any_io_executor;

    explicit initiate_inherited(std::shared_ptr<lease_state> state) : state_{std::move(state)} {}

    executor_type get_executor() const noexcept { return initiate_on_lease::executor_of(state_); }
    bool is_empty() const noexcept { return !state_; }
    lock_descriptor_ptr about() const noexcept { return initiate_on_lease::descriptor_of(state_); }

    template <class Handler>
    void operator()(Handler&& handler) const
    {
        start(state_handler{std::forward<Handler>(handler), initiate_on_lease::fallback_of(state_, handler)});
    }

private:
    void start(state_handler&& handler) const;

    std::shared_ptr<lease_state> state_;
};

}  // namespace redlock::detail

#endif
