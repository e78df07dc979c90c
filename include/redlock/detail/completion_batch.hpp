// Completions that become due in one turn of a client, for an io_context that a single thread runs: they go there in one handler instead of one
// each. benchmarks/decisions.md says what that saves.
#ifndef REDLOCK_DETAIL_COMPLETION_BATCH_HPP
#define REDLOCK_DETAIL_COMPLETION_BATCH_HPP

#include <redlock/detail/deferred_call.hpp>
#include <redlock/detail/export.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <optional>
#include <utility>

namespace redlock {

namespace asio = boost::asio;

namespace detail {

// Calls in the order in which they came. Those that are not made are dropped.
class REDLOCK_API handler_list {
public:
    handler_list() = default;
    handler_list(handler_list&& other) noexcept
        : first_{std::exchange(other.first_, nullptr)}, last_{std::exchange(other.last_, &other.first_)}
    {
        if (!first_) last_ = &first_;
    }
    handler_list& operator=(handler_list&&) = delete;
    ~handler_list();

    bool empty() const noexcept { return first_ == nullptr; }

    void add(deferred_call call) noexcept
    {
        *last_ = call.release();
        last_ = &(*last_)->next;
    }

    // Makes the first call. What it throws leaves; it is out of the list then.
    void call_first() { take_first()(); }

private:
    deferred_call take_first() noexcept;

    call_block* first_{nullptr};
    call_block** last_{&first_};
};

class REDLOCK_API completion_batch {
public:
    // From here to its end, completions of this thread that belong to this context are kept together. Null: they are not. Within another one
    // it does nothing.
    explicit completion_batch(asio::io_context* of);
    completion_batch(completion_batch const&) = delete;
    completion_batch& operator=(completion_batch const&) = delete;
    ~completion_batch();

    // The one that is open in this thread for the context; null: there is none.
    static completion_batch* open_for(asio::execution_context const& context) noexcept;

    void add(deferred_call call)
    {
        if (handlers_.empty()) busy_.emplace(context_->get_executor());
        handlers_.add(std::move(call));
    }

private:
    asio::io_context* context_;  // null: it is none
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> busy_;  // it must not end before they are posted
    handler_list handlers_;
};

}  // namespace detail
}  // namespace redlock

#endif
