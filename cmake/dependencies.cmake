# What redlock is built with. Boost is headers only; where the system's is older than 1.88, cmake/setup.sh has put a newer
# one under build/deps.
set(REDLOCK_DEPS "${PROJECT_SOURCE_DIR}/build/deps" CACHE PATH "Where cmake/setup.sh unpacks packages")

find_package(Threads REQUIRED)
find_package(OpenSSL 3.0 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)

function(redlock_boost_version directory result)
    set(${result} 0 PARENT_SCOPE)
    if(EXISTS "${directory}/boost/version.hpp")
        file(STRINGS "${directory}/boost/version.hpp" line REGEX "^#define BOOST_VERSION [0-9]+")
        string(REGEX MATCH "[0-9]+" version "${line}")
        set(${result} ${version} PARENT_SCOPE)
    endif()
endfunction()

find_path(REDLOCK_BOOST_INCLUDE boost/redis/connection.hpp
    HINTS "${BOOST_ROOT}/include" "$ENV{BOOST_ROOT}/include" PATHS "${REDLOCK_DEPS}/boost/usr/include"
    DOC "A folder that holds Boost >= 1.88")
set(boost_version 0)
if(REDLOCK_BOOST_INCLUDE)
    redlock_boost_version("${REDLOCK_BOOST_INCLUDE}" boost_version)
endif()
if(boost_version LESS 108800)
    message(FATAL_ERROR "redlock needs Boost >= 1.88 (found: ${boost_version}). On Debian, cmake/setup.sh fetches it; "
        "elsewhere set BOOST_ROOT or REDLOCK_BOOST_INCLUDE.")
endif()

add_library(redlock_boost INTERFACE)
target_include_directories(redlock_boost SYSTEM INTERFACE "${REDLOCK_BOOST_INCLUDE}")
target_link_libraries(redlock_boost INTERFACE Threads::Threads)
target_compile_features(redlock_boost INTERFACE cxx_std_20)
# boost::system and Boost.Test are used without their compiled parts.
target_compile_definitions(redlock_boost INTERFACE BOOST_ERROR_CODE_HEADER_ONLY BOOST_ALL_NO_LIB)
