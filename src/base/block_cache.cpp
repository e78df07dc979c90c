#include <redlock/detail/recycling.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

// Under AddressSanitizer and ThreadSanitizer no block is kept: they could not tell the new use of a kept block from the old one.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REDLOCK_RECYCLES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REDLOCK_RECYCLES 0
#endif
#endif
#ifndef REDLOCK_RECYCLES
#define REDLOCK_RECYCLES 1
#endif

namespace redlock::detail {

namespace {

// A thread keeps no more blocks of each size class than so many.
constexpr std::uint32_t max_blocks = 4'096;

struct block {
    block* next;
};

struct bin {
    block* first;
    std::uint32_t room;  // how many blocks more may be kept; 0 before the first block is made, and when the thread ends
};

// The blocks that a thread keeps. The array has no constructor and no destructor, so its users need no check whether they have run.
constinit thread_local bin bins[block_class(max_kept_block) + 1]{};

// Made with a thread's first block: opens the thread's bins, and empties and closes them when the thread ends.
struct bins_of_thread {
    bins_of_thread() noexcept
    {
        for (bin& each : bins) each.room = max_blocks;
    }
    bins_of_thread(bins_of_thread const&) = delete;
    bins_of_thread& operator=(bins_of_thread const&) = delete;
    ~bins_of_thread()
    {
        for (bin& each : bins) {
            each.room = 0;
            while (each.first) ::operator delete(std::exchange(each.first, each.first->next));
        }
    }
};

[[gnu::noinline]] void* make_block(std::size_t size_class, std::size_t size)
{
    static thread_local bins_of_thread const opened;
    return ::operator new(REDLOCK_RECYCLES ? size_class * block_step + block_odd : size);
}

}  // namespace

void* block_of_class(std::size_t size_class, std::size_t size)
{
    bin& from = bins[size_class];
    if (!REDLOCK_RECYCLES || !from.first) return make_block(size_class, size);
    block* const found = from.first;
    from.first = found->next;
    ++from.room;
    return found;
}

void return_to_class(std::size_t size_class, void* what) noexcept
{
    bin& to = bins[size_class];
    if (!REDLOCK_RECYCLES || to.room == 0) return ::operator delete(what);
    to.first = new (what) block{to.first};
    --to.room;
}

}  // namespace redlock::detail
