// A completion handler of any type, kept until its operation ends on another thread.
#ifndef REDLOCK_DETAIL_COMPLETION_HPP
#define REDLOCK_DETAIL_COMPLETION_HPP

#include <redlock/detail/deferred_call.hpp>
#include <redlock/detail/kept_executor.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>

#include <memory>
#include <new>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace redlock {

namespace asio = boost::asio;

namespace detail {

/// Calls its handler once, on the handler's associated executor, never from inside the call that completes it. Until then
/// it keeps that executor's context running. Destroyed without a call, it destroys the handler without a call.
///
/// The handler, its executor and the arguments have one block of memory from the construction to the call.
template <class... Args>
class completion {
public:
    completion() = default;

    template <class Handler>
        requires(!std::is_same_v<std::decay_t<Handler>, completion>)
    completion(Handler&& handler, asio::any_io_executor const& fallback)
        : call_{make<std::decay_t<Handler>>(std::forward<Handler>(handler), fallback)}
    {
    }

    explicit operator bool() const noexcept { return static_cast<bool>(call_); }

    // To be used only while the operation is being initiated: a slot belongs to its caller's thread.
    asio::cancellation_slot slot() const noexcept { return kept().slot; }

    // Whether it is known to run on this executor.
    bool runs_on(asio::any_io_executor const& executor) const { return !kept().hops && kept().executor == kept_executor{executor}; }

    void operator()(Args... args)
    {
        kept().values.emplace(std::move(args)...);
        auto const executor = std::move(kept().executor);
        executor.post(std::move(call_));
    }

private:
    struct block : call_block {
        block(void (*f)(call_block*, bool), asio::any_io_executor const& runs_on, asio::cancellation_slot s, bool h)
            : call_block{f}, executor{runs_on}, slot{s}, hops{h}
        {
        }

        kept_executor executor;
        asio::cancellation_slot slot;
        bool hops;  // the handler's own executor is of a type that cannot be posted to: posted to the fallback, dispatched from there
        std::optional<std::tuple<Args...>> values;  // from the end of the operation on
    };

    template <class Handler>
    struct block_of final : block {
        template <class H>
        block_of(H&& h, asio::any_io_executor const& fallback)
            : block{&free_and_call<Handler>, executor_of<Handler>(h, fallback), slot_of<Handler>(h), erased_executor<Handler>},
              handler{std::forward<H>(h)}
        {
        }

        Handler handler;
    };

    template <class Handler>
    static constexpr bool erased_executor =
        !std::is_convertible_v<asio::associated_executor_t<Handler, asio::any_io_executor>, asio::any_io_executor>;

    template <class Handler>
    static asio::any_io_executor executor_of(Handler const& handler, asio::any_io_executor const& fallback)
    {
        if constexpr (erased_executor<Handler>) {
            return fallback;
        } else {
            return asio::get_associated_executor(handler, fallback);
        }
    }

    template <class Handler>
    static asio::cancellation_slot slot_of(Handler const& handler)
    {
        return asio::get_associated_cancellation_slot(handler);
    }

    // Asio's own cache has room for two blocks of a thread.
    template <class Handler>
    static auto memory_of(Handler const& handler)
    {
        using own = asio::associated_allocator_t<Handler>;
        if constexpr (std::is_same_v<own, std::allocator<void>>) {
            return recycling<block_of<Handler>>{};
        } else {
            return typename std::allocator_traits<own>::template rebind_alloc<block_of<Handler>>{asio::get_associated_allocator(handler)};
        }
    }

    template <class Handler, class H>
    static call_block* make(H&& handler, asio::any_io_executor const& fallback)
    {
        auto memory = memory_of<Handler>(handler);
        auto* const made = memory.allocate(1);
        try {
            return ::new (static_cast<void*>(made)) block_of<Handler>{std::forward<H>(handler), fallback};
        } catch (...) {
            memory.deallocate(made, 1);
            throw;
        }
    }

    // It is on its executor already, or hops there: what is associated with the handler is not asked for again.
    template <class Handler>
    static void free_and_call(call_block* which, bool call)
    {
        auto* const self = static_cast<block_of<Handler>*>(which);
        auto memory = memory_of<Handler>(self->handler);
        Handler handler{std::move(self->handler)};
        auto values{std::move(self->values)};
        std::destroy_at(self);
        memory.deallocate(self, 1);
        if (!call) return;
        auto const invoke = [&](Args&... unpacked) {
            if constexpr (erased_executor<Handler>) {
                asio::dispatch(asio::append(std::move(handler), std::move(unpacked)...));
            } else {
                std::move(handler)(std::move(unpacked)...);
            }
        };
        std::apply(invoke, *values);
    }

    block& kept() const noexcept { return *static_cast<block*>(call_.get()); }

    deferred_call call_;
};

}  // namespace detail
}  // namespace redlock

#endif
