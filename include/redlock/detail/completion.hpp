// A completion handler of any type, kept until its operation ends on another thread.
#ifndef REDLOCK_DETAIL_COMPLETION_HPP
#define REDLOCK_DETAIL_COMPLETION_HPP

#include <redlock/detail/context_gate.hpp>
#include <redlock/detail/deferred_call.hpp>
#include <redlock/detail/failure_notes.hpp>
#include <redlock/detail/kept_executor.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/append.hpp>
#include <boost/asio/associated_allocator.hpp>
#include <boost/asio/associated_cancellation_slot.hpp>
#include <boost/asio/associated_executor.hpp>
#include <boost/asio/cancellation_signal.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/execution.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/query.hpp>
#include <boost/asio/strand.hpp>
#include <boost/asio/system_executor.hpp>
#include <boost/asio/thread_pool.hpp>

#include <concepts>
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
/// it keeps that executor's context running. Destroyed without a call, it destroys the handler without a call. So does that
/// context when it is destroyed before.
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
        if (auto* const another = kept().another) call_ = bound_call::make(*another, std::move(call_));
    }

    explicit operator bool() const noexcept { return static_cast<bool>(call_); }

    // To be used only while the operation is being initiated: a slot belongs to its caller's thread.
    asio::cancellation_slot slot() const noexcept
    {
        block const* const here = kept_block();
        return here ? here->slot : asio::cancellation_slot{};
    }

    // Calls `f`, unless the handler is gone with its context; meanwhile it does not go. What the caller has lives as long as that.
    template <class F>
    void while_awaited(F f) const
    {
        if (!call_.get()->is_bound) return f();
        auto const& bound = static_cast<bound_call const&>(*call_.get());
        context_pass const pass{bound.inner.gate()};
        if (pass && bound.inner.get()) f();
    }

    // Whether the handler throws errors, with reasons. To be used only while the operation is being initiated.
    bool asks_why() const noexcept
    {
        block const* const here = kept_block();
        return here && here->notes;
    }

    // Before the call, if there is an error: `f` gets the note of a handler that throws. Others do not ask.
    template <class F>
    void explain(F f) const
    {
        while_awaited([&] {
            failure_notes* const notes = kept().notes;
            if (!notes) return;
            if (!*notes) *notes = std::make_unique<failure_note>();
            f(**notes);
        });
    }

    void operator()(Args... args)
    {
        if (call_.get()->is_bound) return complete_bound(std::move(args)...);
        complete(std::move(call_), std::move(args)...);
    }

private:
    struct block : call_block {
        block(void (*f)(call_block*, bool), asio::any_io_executor const& runs_on, asio::execution_context* of, asio::cancellation_slot s,
              bool h)
            : call_block{f}, executor{runs_on}, another{of}, slot{s}, hops{h}
        {
        }

        kept_executor executor;
        asio::execution_context* another;  // the handler's, if it is not that of the fallback; else null
        asio::cancellation_slot slot;
        failure_notes* notes{nullptr};  // of a handler that throws (throwing.hpp)
        bool hops;  // the handler's own executor is of a type that cannot be posted to: posted to the fallback, dispatched from there
        std::optional<std::tuple<Args...>> values;  // from the end of the operation on
    };

    template <class Handler>
    static constexpr bool erased_executor =
        !std::is_convertible_v<asio::associated_executor_t<Handler, asio::any_io_executor>, asio::any_io_executor>;

    // What keeps the context of an executor running that is no any_io_executor; kept_executor does it for others.
    struct no_work {};
    template <class Handler>
    using work_type = std::conditional_t<erased_executor<Handler>,
                                         asio::executor_work_guard<asio::associated_executor_t<Handler, asio::any_io_executor>>, no_work>;

    template <class Handler>
    static work_type<Handler> work_of(Handler const& handler, asio::any_io_executor const& fallback)
    {
        if constexpr (erased_executor<Handler>) {
            return work_type<Handler>{asio::get_associated_executor(handler, fallback)};
        } else {
            return {};
        }
    }

    template <class Handler>
    struct block_of final : block {
        template <class H>
        block_of(H&& h, asio::any_io_executor const& fallback)
            : block{&free_and_call<Handler>, executor_of<Handler>(h, fallback), another_context<Handler>(h, fallback), slot_of<Handler>(h),
                    erased_executor<Handler>},
              work{work_of<Handler>(h, fallback)},
              handler{std::forward<H>(h)}
        {
            if constexpr (requires {
                              { handler.notes() } -> std::same_as<failure_notes*>;
                          })
                this->notes = handler.notes();
        }

        [[no_unique_address]] work_type<Handler> work;
        Handler handler;
    };

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
    static asio::execution_context* another_context(Handler const& handler, asio::any_io_executor const& fallback)
    {
        auto const own = asio::get_associated_executor(handler, fallback);
        auto* const context = context_of(own);
        if (!context || context == context_of(fallback)) return nullptr;
        // That of futures is the system's, which is destroyed when the program ends, and keeps no handlers.
        return context == &asio::query(asio::system_executor{}, asio::execution::context) ? nullptr : context;
    }

    // Null: an executor of an erased type that does not tell it, and that is none of Asio's own.
    template <class Executor>
    static asio::execution_context* context_of(Executor const& executor)
    {
        using context = asio::execution::context_as_t<asio::execution_context&>;
        if constexpr (asio::can_query_v<Executor const&, context>) {
            return &asio::query(executor, context{});
        } else {
            using of_io_context = asio::io_context::executor_type;
            using of_thread_pool = asio::thread_pool::executor_type;
            return context_of_known<of_io_context, asio::strand<of_io_context>, of_thread_pool, asio::strand<of_thread_pool>,
                                    asio::any_io_executor, asio::strand<asio::any_io_executor>>(executor);
        }
    }
    template <class... Known, class Executor>
    static asio::execution_context* context_of_known(Executor const& executor)
    {
        asio::execution_context* found = nullptr;
        auto const look = [&](auto const* known) {
            if (known) found = &asio::query(*known, asio::execution::context);
        };
        (look(executor.template target<Known>()), ...);
        return found;
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
        [[maybe_unused]] auto const work{std::move(self->work)};
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

    static void complete(deferred_call call, Args&&... args)
    {
        block& kept = *static_cast<block*>(call.get());
        kept.values.emplace(std::move(args)...);
        auto const executor = std::move(kept.executor);
        executor.post(std::move(call));
    }

    // Where the handler hops, its context has to be there at that moment, too.
    void complete_bound(Args&&... args)
    {
        deferred_call call{std::move(call_)};
        auto& bound = static_cast<bound_call&>(*call.get());
        context_pass const pass{bound.inner.gate()};
        if (!pass || !bound.inner.get()) return;
        block& kept = *static_cast<block*>(bound.inner.get());
        if (!kept.hops) return complete(bound.inner.take(), std::move(args)...);
        kept.values.emplace(std::move(args)...);
        auto const executor = std::move(kept.executor);
        executor.post(std::move(call));
    }

    // Null: it was begun by a handler that is being destroyed with its context.
    block* kept_block() const noexcept
    {
        call_block* const first = call_.get();
        return static_cast<block*>(first->is_bound ? static_cast<bound_call*>(first)->inner.get() : first);
    }
    block& kept() const noexcept { return *kept_block(); }

    deferred_call call_;
};

}  // namespace detail
}  // namespace redlock

#endif
