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

// A thread keeps blocks up to this size, and of each size no more than so many.
constexpr std::size_t size_max = 1'024;
constexpr std::uint32_t blocks_max = 4'096;

// Block sizes are 8 more than a multiple of 16. malloc puts a word of its own beside each block and rounds up to 16, so nothing is wasted.
constexpr std::size_t step = 16;
constexpr std::size_t odd = 8;

struct block {
    block* next;
};

struct bin {
    block* first;
    std::uint32_t room;  // how many blocks more may be kept; 0 before the first block is made, and when the thread ends
};

// The blocks that a thread keeps. The array has no constructor and no destructor, so its users need no check whether they have run.
constinit thread_local bin bins[size_max / step + 1]{};

// Made with a thread's first block: opens the thread's bins, and empties and closes them when the thread ends.
struct bins_of_thread {
    bins_of_thread() noexcept
    {
        for (bin& each : bins) each.room = blocks_max;
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

constexpr std::size_t index_of(std::size_t size) noexcept { return (size + step - odd - 1) / step; }

[[gnu::noinline]] void* make_block(std::size_t size)
{
    static thread_local bins_of_thread const opened;
    return ::operator new(index_of(size) * step + odd);
}

bool is_kept(std::size_t size) noexcept { return REDLOCK_RECYCLES && size > 0 && size <= size_max; }

}  // namespace

void* recycled_block(std::size_t size)
{
    if (!is_kept(size)) return ::operator new(size);
    bin& from = bins[index_of(size)];
    if (!from.first) return make_block(size);
    block* const found = from.first;
    from.first = found->next;
    ++from.room;
    return found;
}

void recycle_block(void* what, std::size_t size) noexcept
{
    if (!is_kept(size)) return ::operator delete(what);
    bin& to = bins[index_of(size)];
    if (to.room == 0) return ::operator delete(what);
    to.first = new (what) block{to.first};
    --to.room;
}

}  // namespace redlock::detail
