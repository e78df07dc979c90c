#include <redlock/detail/recycling.hpp>

#include <cstddef>
#include <cstdint>
#include <new>
#include <utility>

// Under AddressSanitizer and ThreadSanitizer nothing is kept, or they could not tell the new use of a block from the old one.
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

// Larger blocks are not kept, nor more than so many of a size.
constexpr std::size_t size_max = 1'024;
constexpr std::uint32_t blocks_max = 4'096;

// The sizes of blocks are 8 more than a multiple of 16: so malloc, which keeps a word of its own beside each, wastes nothing.
constexpr std::size_t step = 16;
constexpr std::size_t odd = 8;

struct block {
    block* next;
};

struct bin {
    block* first;
    std::uint32_t room;  // none before the thread keeps anything, nor when it ends: what it frees then is freed
};

// The blocks that a thread keeps. Without constructor and destructor, so that nobody has to ask whether they have run.
constinit thread_local bin bins[size_max / step + 1]{};

struct cleaner {
    cleaner() noexcept
    {
        for (bin& each : bins) each.room = blocks_max;
    }
    cleaner(cleaner const&) = delete;
    cleaner& operator=(cleaner const&) = delete;
    ~cleaner()
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
    static thread_local cleaner const at_the_end;
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
