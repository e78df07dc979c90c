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

# The first that is new enough: what the user named, the system's, what cmake/setup.sh unpacked.
set(REDLOCK_BOOST_INCLUDE "" CACHE PATH "A folder that holds boost/ of release 1.88 or newer; empty: look for it")
set(boost_include "")
list(TRANSFORM CMAKE_PREFIX_PATH APPEND /include OUTPUT_VARIABLE prefixes)
foreach(candidate IN ITEMS "${REDLOCK_BOOST_INCLUDE}" "${BOOST_ROOT}/include" "$ENV{BOOST_ROOT}/include" ${prefixes}
        /usr/local/include /usr/include "${REDLOCK_DEPS}/boost/usr/include")
    redlock_boost_version("${candidate}" boost_version)
    if(REDLOCK_BOOST_INCLUDE AND boost_version LESS 108800)
        message(FATAL_ERROR "REDLOCK_BOOST_INCLUDE (${REDLOCK_BOOST_INCLUDE}) has no Boost >= 1.88 with Boost.Redis")
    endif()
    if(boost_version GREATER_EQUAL 108800)
        set(boost_include "${candidate}")
        break()
    elseif(boost_version GREATER 0)
        list(APPEND boost_too_old "${candidate} (${boost_version})")
    endif()
endforeach()
if(NOT boost_include)
    message(FATAL_ERROR "redlock needs Boost >= 1.88 with Boost.Redis; too old: ${boost_too_old}. On Debian, cmake/setup.sh "
        "fetches it; elsewhere set BOOST_ROOT or REDLOCK_BOOST_INCLUDE.")
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
