# What redlock is built with. Boost is headers only; where the system's is older than 1.88, cmake/setup.sh has put a newer
# one under build/deps.
set(REDLOCK_DEPS "${PROJECT_SOURCE_DIR}/build/deps" CACHE PATH "Where cmake/setup.sh unpacks packages")

find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)

function(redlock_boost_version directory result)
    set(${result} 0 PARENT_SCOPE)
    if(EXISTS "${directory}/boost/redis/connection.hpp")
        file(STRINGS "${directory}/boost/version.hpp" line REGEX "^#define BOOST_VERSION [0-9]+")
        string(REGEX MATCH "[0-9]+" version "${line}")
        set(${result} ${version} PARENT_SCOPE)
    endif()
endfunction()

# The first that is new enough: what the user named, the system's, what cmake/setup.sh unpacked. A root is a prefix, or an unpacked release.
set(REDLOCK_BOOST_INCLUDE "" CACHE PATH "A folder that holds boost/ of release 1.88 or newer; empty: look for it")
option(REDLOCK_FETCH_BOOST "Download Boost 1.88.0, and use its headers" OFF)
set(boost_ways "One of three ways:
  -DBOOST_ROOT=/path/to/boost_1_88_0  an unpacked release, or an installed one; nothing of it has to be compiled
  -DREDLOCK_FETCH_BOOST=ON  CMake downloads Boost 1.88.0 from archives.boost.io
  ${PROJECT_SOURCE_DIR}/cmake/setup.sh  on Debian 12 or newer: unpacks Debian's header package into the build tree")

if(REDLOCK_FETCH_BOOST)
    include(FetchContent)
    # No folder has that name, so only the headers are there, and no targets of Boost's own build.
    FetchContent_Declare(redlock_boost_release
        URL https://archives.boost.io/release/1.88.0/source/boost_1_88_0.tar.bz2
        URL_HASH SHA256=46d9d2c06637b219270877c9e16155cbd015b6dc84349af064c088e9b5b12f7b
        DOWNLOAD_EXTRACT_TIMESTAMP ON
        SOURCE_SUBDIR headers-only)
    FetchContent_MakeAvailable(redlock_boost_release)
    set(boost_candidates "${redlock_boost_release_SOURCE_DIR}")
elseif(REDLOCK_BOOST_INCLUDE)
    set(boost_candidates "${REDLOCK_BOOST_INCLUDE}")
else()
    set(boost_candidates "")
    foreach(root IN ITEMS "${BOOST_ROOT}" "${Boost_ROOT}" "$ENV{BOOST_ROOT}" "$ENV{Boost_ROOT}" LISTS CMAKE_PREFIX_PATH)
        if(root)
            list(APPEND boost_candidates "${root}/include" "${root}")
        endif()
    endforeach()
    list(APPEND boost_candidates /usr/local/include /usr/include "${REDLOCK_DEPS}/boost/usr/include")
endif()

set(boost_include "")
set(boost_too_old "")
foreach(candidate IN LISTS boost_candidates)
    redlock_boost_version("${candidate}" boost_version)
    if(boost_version GREATER_EQUAL 108800)
        set(boost_include "${candidate}")
        break()
    elseif(boost_version GREATER 0)
        list(APPEND boost_too_old "${candidate} (${boost_version})")
    endif()
endforeach()
if(NOT boost_include)
    if(REDLOCK_BOOST_INCLUDE)
        message(FATAL_ERROR "REDLOCK_BOOST_INCLUDE (${REDLOCK_BOOST_INCLUDE}) has no Boost >= 1.88 with Boost.Redis. ${boost_ways}")
    endif()
    list(JOIN boost_too_old ", " found)
    if(NOT found)
        set(found none)
    endif()
    message(FATAL_ERROR "redlock needs the headers of Boost >= 1.88 with Boost.Redis; found: ${found}. ${boost_ways}")
endif()
message(STATUS "Boost ${boost_version}: ${boost_include}")
set(REDLOCK_BOOST_VERSION ${boost_version})
math(EXPR boost_major "${boost_version} / 100000")
math(EXPR boost_minor "${boost_version} / 100 % 1000")
math(EXPR boost_patch "${boost_version} % 100")
set(REDLOCK_BOOST_RELEASE ${boost_major}.${boost_minor}.${boost_patch})

add_library(redlock_boost INTERFACE)
target_include_directories(redlock_boost SYSTEM INTERFACE "${boost_include}")
target_link_libraries(redlock_boost INTERFACE Threads::Threads)
target_compile_features(redlock_boost INTERFACE cxx_std_20)
# boost::system and Boost.Test are used without their compiled parts.
target_compile_definitions(redlock_boost INTERFACE BOOST_ERROR_CODE_HEADER_ONLY BOOST_ALL_NO_LIB)
