// How often this program has asked for memory. It counts malloc and its relatives themselves: Asio's recycling allocator asks
// aligned_alloc, which a replaced operator new would not see.
#ifndef REDLOCK_BENCHMARKS_SPEED_ALLOCATIONS_HPP
#define REDLOCK_BENCHMARKS_SPEED_ALLOCATIONS_HPP

#include <cstdint>

namespace bench {

/// By the calling thread. Always 0 where allocations_are_counted() says no.
std::uint64_t allocations() noexcept;

/// Not with a C library other than glibc, nor under sanitizers, which have a malloc of their own.
bool allocations_are_counted() noexcept;

}  // namespace bench

#endif
