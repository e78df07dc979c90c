// What belongs to an execution context and is kept by a client on another one: handlers, and executors of scopes. They must be destroyed before that
// context is, since they keep coroutine frames, timers and strands of it. So the context takes them along when it is destroyed.
#ifndef REDLOCK_DETAIL_CONTEXT_GATE_HPP
#define REDLOCK_DETAIL_CONTEXT_GATE_HPP

#include <redlock/detail/completion_batch.hpp>
#include <redlock/detail/deferred_call.hpp>
#include <redlock/detail/export.hpp>

#include <boost/asio/execution_context.hpp>

#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>

namespace redlock {

namespace asio = boost::asio;

namespace detail {

class context_bound;

// One for each such context. For all threads.
class REDLOCK_API context_gate {
public:
    static std::shared_ptr<context_gate> of(asio::execution_context& context);

    // The context is being destroyed: waits for those who have passed, then destroys what is bound to the context. Nobody passes any more.
    void close() noexcept;

private:
    friend class context_pass;
    friend class context_bound;

    std::mutex mutex_;
    std::condition_variable left_;
    std::size_t passed_{0};
    bool closed_{false};
    context_bound* first_{nullptr};
    handler_list left_behind_;  // of owners that are gone, for close()
};

// While it lives, and is true, the context is not destroyed.
class REDLOCK_API context_pass {
public:
    explicit context_pass(context_gate& gate) noexcept;
    context_pass(context_pass const&) = delete;
    context_pass& operator=(context_pass const&) = delete;
    ~context_pass();

    explicit operator bool() const noexcept { return gate_ != nullptr; }

private:
    friend class context_gate;

    context_gate* gate_;  // null: the context is being destroyed, or is
    context_pass* const outer_;  // of the same thread
};

// Owns a block until its context is destroyed.
class REDLOCK_API context_bound {
public:
    context_bound(asio::execution_context& context, deferred_call what);
    context_bound(context_bound const&) = delete;
    context_bound& operator=(context_bound const&) = delete;
    ~context_bound();

    context_gate& gate() const noexcept { return *gate_; }

    // Both need a pass, except while the owner is being made. Null: it was taken.
    call_block* get() const noexcept { return what_.get(); }
    deferred_call take() noexcept { return std::move(what_); }

private:
    friend class context_gate;

    void unlink() noexcept;

    std::shared_ptr<context_gate> const gate_;
    context_bound* previous_{nullptr};
    context_bound* next_{nullptr};
    bool linked_{false};
    deferred_call what_;
};

// A call whose handler belongs to another context than the client. Called, it calls the handler; it does nothing if that context is gone.
class REDLOCK_API bound_call final : public call_block {
public:
    static deferred_call make(asio::execution_context& context, deferred_call inner);

    context_bound inner;

private:
    bound_call(asio::execution_context& context, deferred_call what);

    static void finish_it(call_block* which, bool call);
};

}  // namespace detail
}  // namespace redlock

#endif
