#include <redlock/detail/context_gate.hpp>

#include "base/context_service.hpp"

#include <utility>

namespace redlock::detail {

namespace {

thread_local context_pass* innermost_pass = nullptr;

}  // namespace

std::shared_ptr<context_gate> context_gate::of(asio::execution_context& context)
{
    return asio::use_service<context_service>(context).gate();
}

// A handler that is destroyed by another thread may be what destroys the context, by owning it: that thread does not wait for itself.
void context_gate::close() noexcept
{
    std::size_t own = 0;
    for (auto const* pass = innermost_pass; pass; pass = pass->outer_) own += pass->gate_ == this ? 1 : 0;
    std::unique_lock lock{mutex_};
    closed_ = true;
    left_.wait(lock, [&] { return passed_ == own; });
    while (first_) {
        context_bound& bound = *first_;
        bound.unlink();
        if (bound.what_) left_behind_.add(bound.take());
    }
    handler_list const gone{std::move(left_behind_)};
    lock.unlock();  // the destructors of handlers may come here again
}

context_pass::context_pass(context_gate& gate) noexcept : gate_{&gate}, outer_{innermost_pass}
{
    std::lock_guard const guard{gate.mutex_};
    if (gate.closed_) {
        gate_ = nullptr;
        return;
    }
    ++gate.passed_;
    innermost_pass = this;
}

context_pass::~context_pass()
{
    if (!gate_) return;
    innermost_pass = outer_;
    std::lock_guard const guard{gate_->mutex_};
    --gate_->passed_;
    if (gate_->closed_) gate_->left_.notify_all();
}

context_bound::context_bound(asio::execution_context& context, deferred_call what) : gate_{context_gate::of(context)}
{
    std::lock_guard const guard{gate_->mutex_};
    if (gate_->closed_) return;  // a handler that is destroyed with its context has begun an operation: `what` goes as well
    what_ = std::move(what);
    linked_ = true;
    next_ = gate_->first_;
    if (next_) next_->previous_ = this;
    gate_->first_ = this;
}

context_bound::~context_bound()
{
    context_pass const pass{*gate_};
    deferred_call gone;
    std::lock_guard const guard{gate_->mutex_};
    unlink();
    if (pass) gone = std::move(what_);
    else if (what_) gate_->left_behind_.add(std::move(what_));
}

void context_bound::unlink() noexcept
{
    if (!std::exchange(linked_, false)) return;
    (previous_ ? previous_->next_ : gate_->first_) = next_;
    if (next_) next_->previous_ = previous_;
}

bound_call::bound_call(asio::execution_context& context, deferred_call what) : call_block{&finish_it, true}, inner{context, std::move(what)}
{
}

deferred_call bound_call::make(asio::execution_context& context, deferred_call inner)
{
    return deferred_call{new bound_call{context, std::move(inner)}};
}

void bound_call::finish_it(call_block* which, bool call)
{
    std::unique_ptr<bound_call> const self{static_cast<bound_call*>(which)};
    if (!call) return;
    context_pass const pass{self->inner.gate()};
    if (!pass) return;
    auto handler = self->inner.take();
    if (handler) handler();
}

}  // namespace redlock::detail
