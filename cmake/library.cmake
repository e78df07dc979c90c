# The library in its two kinds. redlock::redlock is the one that BUILD_SHARED_LIBS says. Our own tests, the command and the benchmarks use
# parts that the shared library hides, so they are linked with redlock_static.

# boost/redis/src.hpp may be included once in a program, and a user may want to. In the shared library it is hidden. In the static one
# its symbols are weak, so that a user's own go before them, whatever the order of objects and archives.
add_library(redlock_boost_redis OBJECT src/node/connection/boost_redis.cpp)
target_link_libraries(redlock_boost_redis PUBLIC redlock_boost OpenSSL::SSL OpenSSL::Crypto)
set_target_properties(redlock_boost_redis PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_VISIBILITY_PRESET hidden)

set(boost_redis_object $<TARGET_OBJECTS:redlock_boost_redis>)
if(CMAKE_OBJCOPY)
    set(weak_object "${CMAKE_CURRENT_BINARY_DIR}/boost_redis_weak${CMAKE_CXX_OUTPUT_EXTENSION}")
    add_custom_command(OUTPUT "${weak_object}" VERBATIM
        COMMAND "${CMAKE_OBJCOPY}" --weaken ${boost_redis_object} "${weak_object}"
        DEPENDS redlock_boost_redis ${boost_redis_object}
        COMMENT "Making the symbols of Boost.Redis weak")
    set(boost_redis_object "${weak_object}")
    set_source_files_properties("${weak_object}" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)
else()
    message(STATUS "objcopy was not found: a program that includes boost/redis/src.hpp has to come before the static library when it is linked")
endif()

# Until 1.0, each minor release may change the binary interface.
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(REDLOCK_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
else()
    set(REDLOCK_SOVERSION ${PROJECT_VERSION_MAJOR})
endif()

if(REDLOCK_BOTH_KINDS)
    set(REDLOCK_KINDS static shared)
elseif(BUILD_SHARED_LIBS)
    set(REDLOCK_KINDS shared)
else()
    set(REDLOCK_KINDS static)
endif()

foreach(kind IN ITEMS static shared)
    string(TOUPPER ${kind} type)
    add_library(redlock_${kind} ${type} $<TARGET_OBJECTS:redlock_core_objects> $<TARGET_OBJECTS:redlock_objects> ${boost_redis_object})
    add_library(redlock::${kind} ALIAS redlock_${kind})
    target_compile_features(redlock_${kind} PUBLIC cxx_std_20)
    target_include_directories(redlock_${kind} PUBLIC
        $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
    target_link_libraries(redlock_${kind}
        PUBLIC $<BUILD_INTERFACE:redlock_boost> $<INSTALL_INTERFACE:redlock::boost> nlohmann_json::nlohmann_json Threads::Threads
        PRIVATE OpenSSL::SSL OpenSSL::Crypto)
    set_target_properties(redlock_${kind} PROPERTIES LINKER_LANGUAGE CXX OUTPUT_NAME redlock EXPORT_NAME ${kind})
    if(NOT kind IN_LIST REDLOCK_KINDS)
        set_target_properties(redlock_${kind} PROPERTIES EXCLUDE_FROM_ALL ON)
    endif()
endforeach()
set_target_properties(redlock_shared PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${REDLOCK_SOVERSION})
if(NOT APPLE AND NOT REDLOCK_SANITIZE)
    # nodelete: a program that closes the library may have left a lookup of a name in one of its threads.
    target_link_options(redlock_shared PRIVATE LINKER:--no-undefined LINKER:-z,nodelete)
endif()

if(BUILD_SHARED_LIBS)
    add_library(redlock::redlock ALIAS redlock_shared)
else()
    add_library(redlock::redlock ALIAS redlock_static)
endif()

# redlock::testing, for tests of users. It drives the core, which the shared library hides, by a clock of its own: so it is static, and brings
# the core along. With the static library, the linker takes it from whichever comes first: these are the same objects.
add_library(redlock_testing STATIC $<TARGET_OBJECTS:redlock_testing_objects> $<TARGET_OBJECTS:redlock_core_objects>)
add_library(redlock::testing ALIAS redlock_testing)
if(BUILD_SHARED_LIBS)
    target_link_libraries(redlock_testing PUBLIC $<BUILD_INTERFACE:redlock_shared>)
else()
    target_link_libraries(redlock_testing PUBLIC $<BUILD_INTERFACE:redlock_static>)
endif()
set_target_properties(redlock_testing PROPERTIES LINKER_LANGUAGE CXX EXPORT_NAME testing)
if(NOT PROJECT_IS_TOP_LEVEL AND NOT REDLOCK_INSTALL)
    set_target_properties(redlock_testing redlock_testing_objects PROPERTIES EXCLUDE_FROM_ALL ON)
endif()
