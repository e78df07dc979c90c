// A call that is made later, or never.
#ifndef REDLOCK_DETAIL_DEFERRED_CALL_HPP
#define REDLOCK_DETAIL_DEFERRED_CALL_HPP

#include <utility>

namespace redlock::detail {

// The head of a block with a handler and the arguments of its call, whatever their types.
struct call_block {
    explicit call_block(void (*f)(call_block*, bool), bool of_another_context = false) noexcept : finish{f}, is_bound{of_another_context} {}

    call_block* next{nullptr};  // in a handler_list
    void (*const finish)(call_block*, bool call);  // frees the block; then calls the handler, or destroys it
    bool const is_bound;  // a bound_call
};

// Owns a block. Destroys the handler unless the call was made.
class deferred_call {
public:
    deferred_call() = default;
    explicit deferred_call(call_block* block) noexcept : block_{block} {}
    deferred_call(deferred_call&& other) noexcept : block_{other.release()} {}
    deferred_call& operator=(deferred_call&& other) noexcept
    {
        deferred_call taken{std::move(other)};
        std::swap(block_, taken.block_);
        return *this;
    }
    ~deferred_call()
    {
        if (block_) block_->finish(block_, false);
    }

    explicit operator bool() const noexcept { return block_ != nullptr; }
    call_block* get() const noexcept { return block_; }
    call_block* release() noexcept { return std::exchange(block_, nullptr); }

    void operator()()
    {
        call_block* const block = release();
        block->finish(block, true);
    }

private:
    call_block* block_{nullptr};
};

}  // namespace redlock::detail

#endif
