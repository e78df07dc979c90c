// Memory of small objects that come and go with each operation. Freed blocks are kept by the thread that frees them, by size, and
// given out again; a malloc of the C library costs about as much as everything else that is done to some of them.
//
// Thread-safe: a block may be freed by another thread than the one that asked for it. Under AddressSanitizer and ThreadSanitizer
// nothing is kept, or they could not tell the new use of a block from the old one.
#ifndef REDLOCK_RECYCLED_HPP
#define REDLOCK_RECYCLED_HPP

#include <cstddef>
#include <list>
#include <memory>
#include <new>
#include <utility>

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

// The blocks that one thread keeps.
class block_store {
public:
    // Larger blocks are not kept, nor more than so many of a size.
    static constexpr std::size_t size_max = 1'024;
    static constexpr std::size_t blocks_max = 4'096;

    block_store() = default;
    block_store(block_store const&) = delete;
    block_store& operator=(block_store const&) = delete;
    ~block_store();

    void* allocate(std::size_t size)
    {
        bin& from = bins_[index_of(size)];
        if (!from.first) return ::operator new((index_of(size) + 1) * step);
        block* const found = from.first;
        from.first = found->next;
        --from.count;
        return found;
    }

    void deallocate(void* what, std::size_t size) noexcept
    {
        bin& to = bins_[index_of(size)];
        if (closed_ || to.count == blocks_max) return ::operator delete(what);
        to.first = new (what) block{to.first};
        ++to.count;
    }

    static block_store& of_this_thread() noexcept
    {
        static thread_local block_store store;
        return store;
    }

private:
    struct block {
        block* next;
    };
    struct bin {
        block* first{nullptr};
        std::size_t count{0};
    };

    static constexpr std::size_t step = 32;
    static constexpr std::size_t index_of(std::size_t size) noexcept { return (size - 1) / step; }

    bin bins_[size_max / step];
    bool closed_{false};  // the thread ends; what it frees from now on is freed
};

inline block_store::~block_store()
{
    closed_ = true;
    for (bin& each : bins_)
        while (each.first) ::operator delete(std::exchange(each.first, each.first->next));
}

// For std::allocate_shared and containers whose elements are few at a time.
template <class T>
class recycling {
public:
    using value_type = T;

    recycling() = default;
    template <class U>
    recycling(recycling<U> const&) noexcept
    {
    }

    T* allocate(std::size_t count)
    {
        std::size_t const size = count * sizeof(T);
        return static_cast<T*>(kept(size) ? block_store::of_this_thread().allocate(size) : ::operator new(size));
    }
    void deallocate(T* what, std::size_t count) noexcept
    {
        std::size_t const size = count * sizeof(T);
        void* const memory = static_cast<void*>(what);  // what may be a pointer to pointers
        kept(size) ? block_store::of_this_thread().deallocate(memory, size) : ::operator delete(memory);
    }

    template <class U>
    bool operator==(recycling<U> const&) const noexcept
    {
        return true;
    }

private:
    static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__);
    static constexpr bool kept(std::size_t size) noexcept { return REDLOCK_RECYCLES && size > 0 && size <= block_store::size_max; }
};

template <class T, class... Args>
std::shared_ptr<T> make_recycled(Args&&... args)
{
    return std::allocate_shared<T>(recycling<T>{}, std::forward<Args>(args)...);
}

template <class T>
using recycled_list = std::list<T, recycling<T>>;

}  // namespace redlock::detail

#endif
