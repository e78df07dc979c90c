# Options for our own code only; nothing here reaches a user's targets.
if(PROJECT_IS_TOP_LEVEL)
    set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
    find_program(CCACHE ccache)
    if(CCACHE)
        set(CMAKE_CXX_COMPILER_LAUNCHER "${PROJECT_SOURCE_DIR}/cmake/ccache.sh")
    endif()
    # Three hundred programs are linked for the tests and the mutants. Without the option, valgrind does not read its debug information.
    find_program(LLD ld.lld)
    if(LLD AND CMAKE_BUILD_TYPE STREQUAL "Debug" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        add_link_options(-fuse-ld=lld -Wl,--no-rosegment)
    endif()
endif()
set(CMAKE_CXX_EXTENSIONS OFF)

add_library(redlock_warnings INTERFACE)
target_compile_options(redlock_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion)
if(REDLOCK_WARNINGS_AS_ERRORS)
    target_compile_options(redlock_warnings INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Analyses of g++ 12 that are wrong in optimised builds: the first two about coroutine frames, the last about
    # "literal" + std::to_string(x).
    target_compile_options(redlock_warnings INTERFACE -Wno-maybe-uninitialized -Wno-mismatched-new-delete -Wno-restrict)
    if(CMAKE_UNITY_BUILD)
        # For it, what is not in the file itself is in a header.
        target_compile_options(redlock_warnings INTERFACE -Wno-subobject-linkage)
    endif()
endif()

# gcc inlines no more where a source has grown by 40 %: with Boost and several sources in one piece that is soon. make instructions counts what it does.
add_compile_options($<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release,RelWithDebInfo>>:--param=inline-unit-growth=300>)

# gcc collects garbage in its own memory often: a tenth of its time, where machines have more memory than that.
if(REDLOCK_BUILD_TESTS)
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=1048576>)
endif()

# In debug builds, what only uses the library is compiled without optimisation: that takes two thirds of the time.
macro(redlock_unoptimised)
    add_compile_options($<$<CONFIG:Debug>:-O0>)
endmacro()

# Most of the time of a compiler goes into headers of Boost: twenty sources that are compiled as one take twice the time of one of them. So all but
# the core and what simulations need apart is compiled in such pieces. Names in unnamed namespaces have to be different within a target.
function(redlock_few_pieces target)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON)
    if(NOT CMAKE_UNITY_BUILD_BATCH_SIZE)
        set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 16)
    endif()
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
    endif()
endfunction()

# The headers that nearly every source includes, once for all of a target, and for others with the same options by REUSE_FROM. ARGN: more of them.
function(redlock_precompile target)
    target_precompile_headers(${target} PRIVATE
        <algorithm> <array> <chrono> <functional> <map> <memory> <optional> <string> <string_view> <vector>
        <boost/asio/any_completion_handler.hpp> <boost/asio/any_io_executor.hpp> <boost/asio/as_tuple.hpp> <boost/asio/awaitable.hpp>
        <boost/asio/bind_cancellation_slot.hpp> <boost/asio/co_spawn.hpp> <boost/asio/detached.hpp> <boost/asio/io_context.hpp>
        <boost/asio/steady_timer.hpp> <boost/asio/strand.hpp> <boost/asio/use_awaitable.hpp> ${ARGN})
    # What ccache wants to see.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        target_compile_options(${target} PRIVATE -fpch-preprocess)
    else()
        target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
    endif()
endfunction()

# Takes them from another target with the same options, where there is one. Not where code is optimised: g++ warns of the standard library's then, as if
# it was ours.
function(redlock_take_headers_of other)
    if(TARGET ${other} AND CMAKE_BUILD_TYPE STREQUAL "Debug")
        foreach(target IN LISTS ARGN)
            target_precompile_headers(${target} REUSE_FROM ${other})
        endforeach()
    endif()
endfunction()

if(REDLOCK_SANITIZE)
    add_compile_options(-fsanitize=${REDLOCK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
    add_link_options(-fsanitize=${REDLOCK_SANITIZE})
    if(REDLOCK_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Asio's fences are beside atomic operations that the sanitizer does understand.
        add_compile_options(-Wno-tsan)
    endif()
endif()
