// Completions that become due in one turn of a client, for an io_context that a single thread runs: they go there in one handler instead of one
// each. docs/performance.md says what that saves.
#ifndef REDLOCK_DETAIL_COMPLETION_BATCH_HPP
#define REDLOCK_DETAIL_COMPLETION_BATCH_HPP

#include <redlock/detail/export.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>

#include <new>
#include <optional>
#include <utility>

namespace redlock {

namespace asio = boost::asio;

namespace detail {

// Handlers in the order in which they came. Those that are not called are destroyed.
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

    template <class F>
    void add(F f)
    {
        auto memory = recycling<holder<F>>{};
        holder<F>* const made = memory.allocate(1);
        ::new (static_cast<void*>(made)) holder<F>{{nullptr, &finish<F>}, std::move(f)};
        *last_ = made;
        last_ = &made->next;
    }

    // Calls the first. What it throws leaves; it is out of the list then.
    void call_first();

private:
    struct node {
        node* next;
        void (*finish)(node*, bool call);
    };
    template <class F>
    struct holder : node {
        F f;
    };

    template <class F>
    static void finish(node* which, bool call)
    {
        auto* const self = static_cast<holder<F>*>(which);
        F f{std::move(self->f)};
        self->~holder<F>();
        recycling<holder<F>>{}.deallocate(self, 1);
        if (call) std::move(f)();
    }

    node* take_first() noexcept;

    node* first_{nullptr};
    node** last_{&first_};
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

    template <class F>
    void add(F f)
    {
        if (handlers_.empty()) busy_.emplace(context_->get_executor());
        handlers_.add(std::move(f));
    }

private:
    asio::io_context* context_;  // null: it is none
    std::optional<asio::executor_work_guard<asio::io_context::executor_type>> busy_;  // it must not end before they are posted
    handler_list handlers_;
};

}  // namespace detail
}  // namespace redlock

#endif
