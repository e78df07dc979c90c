// Memory of small objects that come and go with each operation. Freed blocks are kept by the thread that frees them, by size, and
// given out again; a malloc of the C library costs about as much as everything else that is done to some of them.
//
// Thread-safe: a block may be freed by another thread than the one that asked for it.
#ifndef REDLOCK_DETAIL_RECYCLING_HPP
#define REDLOCK_DETAIL_RECYCLING_HPP

#include <redlock/detail/export.hpp>

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace redlock::detail {

// A thread keeps blocks up to this size. Block sizes are 8 more than a multiple of 16: malloc puts a word of its own beside each block and rounds up
// to 16, so nothing is wasted.
inline constexpr std::size_t max_kept_block = 1'024;
inline constexpr std::size_t block_step = 16;
inline constexpr std::size_t block_odd = 8;

// The number of the size class of a block.
constexpr std::size_t block_class(std::size_t size) noexcept { return (size + block_step - block_odd - 1) / block_step; }
constexpr bool is_kept_size(std::size_t size) noexcept { return size > 0 && size <= max_kept_block; }

// A block of a size class, and back. Precondition: the size is kept, and of this class.
REDLOCK_API void* block_of_class(std::size_t size_class, std::size_t size);
REDLOCK_API void return_to_class(std::size_t size_class, void* what) noexcept;

// As operator new and delete, for any size. Where the size is a constant, so is its class.
inline void* recycled_block(std::size_t size)
{
    return is_kept_size(size) ? block_of_class(block_class(size), size) : ::operator new(size);
}
inline void recycle_block(void* what, std::size_t size) noexcept
{
    is_kept_size(size) ? return_to_class(block_class(size), what) : ::operator delete(what);
}

// For std::allocate_shared, for containers whose elements are few at a time, and for handlers.
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
        if constexpr (is_plain()) {
            return static_cast<T*>(recycled_block(count * sizeof(T)));
        } else {
            return std::allocator<T>{}.allocate(count);
        }
    }
    void deallocate(T* what, std::size_t count) noexcept
    {
        if constexpr (is_plain()) {
            recycle_block(static_cast<void*>(what), count * sizeof(T));  // it may be a pointer to pointers
        } else {
            std::allocator<T>{}.deallocate(what, count);
        }
    }

    template <class U>
    bool operator==(recycling<U> const&) const noexcept
    {
        return true;
    }

private:
    static constexpr bool is_plain() { return alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__; }
};

template <class T, class... Args>
std::shared_ptr<T> make_recycled(Args&&... args)
{
    return std::allocate_shared<T>(recycling<T>{}, std::forward<Args>(args)...);
}

}  // namespace redlock::detail

#endif
