// A completion handler of any type, kept until its operation ends on another thread.
#ifndef REDLOCK_DETAIL_COMPLETION_HPP
#define REDLOCK_DETAIL_COMPLETION_HPP

#include <redlock/detail/completion_batch.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/any_completion_handler.hpp>
#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/bind_allocator.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/require.hpp>

#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>

namespace redlock {

namespace asio = boost::asio;

namespace detail {

/// Calls its handler once, on the handler's associated executor, never from inside the call that completes it. Until then
/// it keeps that executor's context running. Destroyed without a call, it destroys the handler without a call.
template <class... Args>
class completion {
public:
    completion() = default;

    // The executor is read before the handler's type is erased: any_completion_executor cannot be posted to.
    template <class Handler>
        requires(!std::is_same_v<std::decay_t<Handler>, completion>)
    completion(Handler&& handler, asio::any_io_executor const& fallback)
        : executor_{kept(executor_of(handler, fallback))}, handler_{with_memory(std::forward<Handler>(handler))}
    {
    }

    explicit operator bool() const noexcept { return static_cast<bool>(handler_); }

    // To be used only while the operation is being initiated: a slot belongs to its caller's thread.
    asio::cancellation_slot slot() const noexcept { return handler_.get_cancellation_slot(); }

    // Whether it is known to run on this executor.
    bool runs_on(asio::any_io_executor const& executor) const { return !hop_ && executor_ == kept(executor); }

    void operator()(Args... args)
    {
        auto const executor = std::move(executor_);
        // The lambda hides what is associated with the handler: it is on its executor already, a second hop is not needed.
        // And it never blocks, so this is a post() without what post() finds out each time.
        auto deliver = [handler = std::move(handler_), hop = hop_, values = std::tuple<Args...>{std::move(args)...}]() mutable {
            std::apply(
                [&](Args&... unpacked) {
                    if (hop) {
                        asio::dispatch(asio::append(std::move(handler), std::move(unpacked)...));
                    } else {
                        std::move(handler)(std::move(unpacked)...);
                    }
                },
                values);
        };
        if (auto const* const plain = executor.template target<io_executor>()) {
            if (auto* const batch = completion_batch::open_for(asio::query(*plain, asio::execution::context)))
                return batch->add(std::move(deliver));
            // What is posted counts as work by itself, so that this copy need not.
            auto const posting = asio::prefer(*plain, asio::execution::outstanding_work.untracked);
            asio::require(posting, asio::execution::allocator(recycling<void>{})).execute(std::move(deliver));
        } else {
            executor.execute(std::move(deliver));
        }
    }

private:
    template <class Executor>
    static auto ready(Executor const& of)
    {
        return asio::prefer(asio::require(of, asio::execution::blocking.never), asio::execution::outstanding_work.tracked);
    }

    // Most are of an io_context, and without a detour through the erased type they cost half.
    using io_executor = decltype(ready(std::declval<asio::io_context::executor_type const&>()));

    static asio::any_io_executor kept(asio::any_io_executor const& of)
    {
        if (auto const* const plain = of.target<asio::io_context::executor_type>()) return ready(*plain);
        return ready(of);
    }

    // Asio's own cache has room for two blocks of a thread.
    template <class Handler>
    static decltype(auto) with_memory(Handler&& handler)
    {
        if constexpr (std::is_same_v<asio::associated_allocator_t<std::decay_t<Handler>>, std::allocator<void>>) {
            return asio::bind_allocator(recycling<void>{}, std::forward<Handler>(handler));
        } else {
            return std::forward<Handler>(handler);
        }
    }

    template <class Handler>
    static constexpr bool erased_executor =
        !std::is_convertible_v<asio::associated_executor_t<std::decay_t<Handler>, asio::any_io_executor>, asio::any_io_executor>;

    template <class Handler>
    asio::any_io_executor executor_of(Handler const& handler, asio::any_io_executor const& fallback)
    {
        if constexpr (erased_executor<Handler>) {
            hop_ = true;  // posted to the fallback, dispatched from there
            return fallback;
        } else {
            return asio::get_associated_executor(handler, fallback);
        }
    }

    bool hop_{false};
    asio::any_io_executor executor_;
    asio::any_completion_handler<void(Args...)> handler_;
};

}  // namespace detail
}  // namespace redlock

#endif
