#include <redlock/detail/completion_batch.hpp>
#include <redlock/detail/recycling.hpp>

#include <boost/asio/execution.hpp>
#include <boost/asio/prefer.hpp>
#include <boost/asio/require.hpp>

#include <utility>

namespace redlock::detail {

namespace {

// The batch that collects the completions of this thread; null: each completion is posted on its own.
thread_local completion_batch* open_batch = nullptr;

// Posts one handler that calls all of `handlers`. After an exception of one, or after io_context::stop(), the others are posted again.
void post(asio::io_context::executor_type const& to, handler_list handlers)
{
    auto all = [to, handlers = std::move(handlers)]() mutable {
        struct rest {
            asio::io_context::executor_type const& to;
            handler_list& handlers;
            ~rest()
            {
                if (!handlers.empty()) post(to, std::move(handlers));
            }
        } const r{to, handlers};
        do handlers.call_first();
        while (!handlers.empty() && !to.context().stopped());
    };
    auto const later = asio::require(to, asio::execution::blocking.never);
    asio::require(later, asio::execution::allocator(recycling<void>{})).execute(std::move(all));
}

}  // namespace

handler_list::~handler_list()
{
    while (!empty()) static_cast<void>(take_first());
}

deferred_call handler_list::take_first() noexcept
{
    call_block* const first = first_;
    first_ = std::exchange(first->next, nullptr);
    if (!first_) last_ = &first_;
    return deferred_call{first};
}

completion_batch::completion_batch(asio::io_context* of) : context_{open_batch ? nullptr : of}
{
    if (context_) open_batch = this;
}

completion_batch::~completion_batch()
{
    if (!context_) return;
    open_batch = nullptr;
    if (!handlers_.empty()) post(context_->get_executor(), std::move(handlers_));
}

completion_batch* completion_batch::open_for(asio::execution_context const& context) noexcept
{
    return open_batch && open_batch->context_ == &context ? open_batch : nullptr;
}

}  // namespace redlock::detail
