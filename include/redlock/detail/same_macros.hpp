// A program that was compiled with other macros of Asio than the library, or without run-time type information, would link with it, and then crash or
// wait for ever: macros change what Asio's types consist of, and which services they look for. So a program asks the library for a function whose
// name has in it what was compiled otherwise than usual. Where the library was not compiled in the same way, the program does not link, and the
// linker's message says why. docs/building.md says what to do.
#ifndef REDLOCK_DETAIL_SAME_MACROS_HPP
#define REDLOCK_DETAIL_SAME_MACROS_HPP

#include <redlock/detail/export.hpp>

#include <boost/asio/detail/config.hpp>

#include <string>  // defines the macros of the standard library

namespace redlock::detail {

// What is said of a compilation.
struct without_rtti;
struct without_exceptions;
struct without_threads;
struct without_thread_keyword;
struct without_epoll;
struct without_eventfd;
struct without_timerfd;
struct without_futex;
struct without_std_atomic_wait;
struct without_getaddrinfo;
struct with_io_uring;
struct with_io_uring_as_default;
struct with_ts_executor_as_default;
struct without_ts_executors;
struct with_handler_tracking;
struct with_custom_handler_tracking;
struct with_buffer_debugging;
struct without_small_block_recycling;
struct without_awaitable_frame_recycling;
struct without_aligned_alloc;
template <int>
struct with_recycling_allocator_cache_size;
template <int>
struct with_hash_map_buckets;
template <int>
struct with_strand_implementations;
struct with_sequential_strand_allocation;
struct without_visibility;
struct with_wolfssl;
struct with_version_namespace;
struct with_containers_for_debugging;
struct with_strings_of_before_cxx11;
struct and_else_as_usual;

template <class...>
struct compiled;

using this_compilation = compiled<
#if defined(BOOST_ASIO_NO_TYPEID) || (defined(__GNUC__) && !defined(__GXX_RTTI))
    without_rtti,
#endif
#if defined(BOOST_ASIO_NO_EXCEPTIONS)
    without_exceptions,
#endif
#if !defined(BOOST_ASIO_HAS_THREADS)
    without_threads,
#endif
#if !defined(BOOST_ASIO_HAS_THREAD_KEYWORD_EXTENSION)
    without_thread_keyword,
#endif
#if defined(__linux__) && !defined(BOOST_ASIO_HAS_EPOLL)
    without_epoll,
#endif
#if defined(__linux__) && !defined(BOOST_ASIO_HAS_EVENTFD)
    without_eventfd,
#endif
#if defined(__linux__) && defined(BOOST_ASIO_HAS_EPOLL) && !defined(BOOST_ASIO_HAS_TIMERFD)
    without_timerfd,
#endif
// What the mutexes of strands are, in Asio of Boost 1.92.
#if defined(BOOST_ASIO_DISABLE_FUTEX)
    without_futex,
#endif
#if defined(BOOST_ASIO_DISABLE_STD_ATOMIC_WAIT) && !defined(BOOST_ASIO_HAS_FUTEX)
    without_std_atomic_wait,
#endif
#if !defined(BOOST_ASIO_HAS_GETADDRINFO)
    without_getaddrinfo,
#endif
#if defined(BOOST_ASIO_HAS_IO_URING)
    with_io_uring,
#endif
#if defined(BOOST_ASIO_HAS_IO_URING_AS_DEFAULT)
    with_io_uring_as_default,
#endif
#if defined(BOOST_ASIO_USE_TS_EXECUTOR_AS_DEFAULT)
    with_ts_executor_as_default,
#endif
#if defined(BOOST_ASIO_NO_TS_EXECUTORS)
    without_ts_executors,
#endif
#if defined(BOOST_ASIO_ENABLE_HANDLER_TRACKING)
    with_handler_tracking,
#endif
#if defined(BOOST_ASIO_CUSTOM_HANDLER_TRACKING)
    with_custom_handler_tracking,
#endif
// Asio's buffers set the macro themselves, and they may be included before this or behind it.
#if defined(BOOST_ASIO_ENABLE_BUFFER_DEBUGGING) || (defined(_GLIBCXX_DEBUG) && !defined(BOOST_ASIO_DISABLE_BUFFER_DEBUGGING))
    with_buffer_debugging,
#endif
#if defined(BOOST_ASIO_DISABLE_SMALL_BLOCK_RECYCLING)
    without_small_block_recycling,
#endif
#if defined(BOOST_ASIO_DISABLE_AWAITABLE_FRAME_RECYCLING)
    without_awaitable_frame_recycling,
#endif
#if !defined(BOOST_ASIO_HAS_STD_ALIGNED_ALLOC)
    without_aligned_alloc,
#endif
#if defined(BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE) && BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE != 2
    with_recycling_allocator_cache_size<BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE>,
#endif
#if defined(BOOST_ASIO_HASH_MAP_BUCKETS)
    with_hash_map_buckets<(BOOST_ASIO_HASH_MAP_BUCKETS)>,
#endif
#if defined(BOOST_ASIO_STRAND_IMPLEMENTATIONS)
    with_strand_implementations<(BOOST_ASIO_STRAND_IMPLEMENTATIONS)>,
#endif
#if defined(BOOST_ASIO_ENABLE_SEQUENTIAL_STRAND_ALLOCATION)
    with_sequential_strand_allocation,
#endif
#if defined(BOOST_ASIO_DISABLE_VISIBILITY)
    without_visibility,
#endif
#if defined(BOOST_ASIO_USE_WOLFSSL)
    with_wolfssl,
#endif
#if defined(BOOST_ASIO_VERSION_NAMESPACE) || defined(BOOST_ASIO_ENABLE_VERSION_NAMESPACE)
    with_version_namespace,
#endif
#if defined(_GLIBCXX_DEBUG)
    with_containers_for_debugging,
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI) && !_GLIBCXX_USE_CXX11_ABI
    with_strings_of_before_cxx11,
#endif
    and_else_as_usual>;

REDLOCK_API void this_program_and_redlock_were_compiled_with_different_macros_of_asio__see_docs_building(this_compilation*) noexcept;

#if defined(__GNUC__)
[[gnu::used]]
#endif
[[maybe_unused]] static void (*const asks_for_same_macros)(this_compilation*) noexcept =
    &this_program_and_redlock_were_compiled_with_different_macros_of_asio__see_docs_building;

}  // namespace redlock::detail

#endif
