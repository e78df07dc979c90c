#include "allocations.hpp"

#include <cerrno>
#include <cstddef>
#include <cstdlib>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define REDLOCK_COUNTS_ALLOCATIONS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define REDLOCK_COUNTS_ALLOCATIONS 0
#endif
#endif
#ifndef REDLOCK_COUNTS_ALLOCATIONS
#ifdef __GLIBC__
#define REDLOCK_COUNTS_ALLOCATIONS 1
#else
#define REDLOCK_COUNTS_ALLOCATIONS 0
#endif
#endif

namespace {

thread_local std::uint64_t count = 0;

}  // namespace

namespace bench {

std::uint64_t allocations() noexcept { return count; }

bool allocations_are_counted() noexcept { return REDLOCK_COUNTS_ALLOCATIONS != 0; }

}  // namespace bench

#if REDLOCK_COUNTS_ALLOCATIONS

// glibc lets a program bring a malloc of its own, and these are the names of the one that it has.
extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);
void* __libc_memalign(std::size_t, std::size_t);
void __libc_free(void*);

void* malloc(std::size_t size) noexcept
{
    ++count;
    return __libc_malloc(size);
}

void* calloc(std::size_t n, std::size_t size) noexcept
{
    ++count;
    return __libc_calloc(n, size);
}

void* realloc(void* p, std::size_t size) noexcept
{
    ++count;
    return __libc_realloc(p, size);
}

void* memalign(std::size_t alignment, std::size_t size) noexcept
{
    ++count;
    return __libc_memalign(alignment, size);
}

void* aligned_alloc(std::size_t alignment, std::size_t size) noexcept
{
    ++count;
    return __libc_memalign(alignment, size);
}

int posix_memalign(void** result, std::size_t alignment, std::size_t size) noexcept
{
    ++count;
    void* const p = __libc_memalign(alignment, size);
    if (!p) return ENOMEM;
    *result = p;
    return 0;
}

void free(void* p) noexcept { __libc_free(p); }
}

#endif
