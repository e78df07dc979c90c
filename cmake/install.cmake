# What `cmake --install` brings, in parts: library (the shared library), development (headers, the static libraries, CMake and pkg-config
# files), boost (headers of Boost) and command (see src/cli).
include(CMakePackageConfigHelpers)

# A Boost that was fetched is nowhere on the system, so programs that are compiled with an installed redlock need it from here.
set(fetched OFF)
if(REDLOCK_FETCH_BOOST OR boost_include STREQUAL "${REDLOCK_DEPS}/boost/usr/include")
    set(fetched ON)
endif()
option(REDLOCK_INSTALL_BOOST "Install the headers of Boost too, in a folder of redlock's own" ${fetched})

set(boost_folder "${CMAKE_INSTALL_INCLUDEDIR}/redlock-boost")
set(cmake_folder "${CMAKE_INSTALL_LIBDIR}/cmake/redlock")
set(pkgconfig_folder "${CMAKE_INSTALL_LIBDIR}/pkgconfig")

install(DIRECTORY include/redlock DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development FILES_MATCHING PATTERN "*.hpp")
# Debian wants its manual pages and change logs compressed.
function(redlock_compressed file result)
    find_program(REDLOCK_GZIP gzip REQUIRED)
    set(compressed "${CMAKE_CURRENT_BINARY_DIR}/${result}.gz")
    add_custom_command(OUTPUT "${compressed}" COMMAND "${REDLOCK_GZIP}" -9 --no-name --stdout "${file}" > "${compressed}" DEPENDS "${file}")
    add_custom_target(compressed_${result} ALL DEPENDS "${compressed}")
    set(compressed "${compressed}" PARENT_SCOPE)
endfunction()

configure_file(cmake/installed_redlock.hpp.in generated/installed_redlock.hpp @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/generated/installed_redlock.hpp"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/redlock/detail" COMPONENT development)
if(NOT REDLOCK_PACKAGES)  # each has its own
    install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT development)
endif()
if(REDLOCK_INSTALL_BOOST)
    install(DIRECTORY "${boost_include}/boost" DESTINATION "${boost_folder}" COMPONENT boost)
endif()

foreach(kind IN LISTS REDLOCK_KINDS)
    install(TARGETS redlock_${kind} EXPORT redlock_${kind}
        LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT library NAMELINK_COMPONENT development
        ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
        INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
    install(EXPORT redlock_${kind} NAMESPACE redlock:: FILE redlock-${kind}.cmake DESTINATION "${cmake_folder}" COMPONENT development)
endforeach()

install(TARGETS redlock_testing EXPORT redlock_testing ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT redlock_testing NAMESPACE redlock:: FILE redlock-testing.cmake DESTINATION "${cmake_folder}" COMPONENT development)

configure_package_config_file(cmake/redlock-config.cmake.in generated/redlock-config.cmake
    INSTALL_DESTINATION "${cmake_folder}" PATH_VARS boost_folder)
# Until 1.0, another minor release is another interface.
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/generated/redlock-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/generated/redlock-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/generated/redlock-config-version.cmake"
    DESTINATION "${cmake_folder}" COMPONENT development)

# pkg-config. Paths begin where the file is, so that a prefix can be moved.
file(RELATIVE_PATH to_prefix "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig" "${CMAKE_INSTALL_PREFIX}")
string(REGEX REPLACE "/$" "" to_prefix "${to_prefix}")
set(boost_flags "")
if(REDLOCK_INSTALL_BOOST)
    set(boost_flags "-isystem \${prefix}/${boost_folder}")
elseif(NOT boost_include MATCHES "^/usr(/local)?/include$")
    set(boost_flags "-isystem ${boost_include}")
endif()

function(redlock_pkgconfig name library description requires)
    configure_file(cmake/redlock.pc.in generated/${name}.pc @ONLY)
    install(FILES "${CMAKE_CURRENT_BINARY_DIR}/generated/${name}.pc" DESTINATION "${pkgconfig_folder}" COMPONENT development)
endfunction()

set(of_static "nlohmann_json, libssl, libcrypto")
if("shared" IN_LIST REDLOCK_KINDS)
    redlock_pkgconfig(redlock -lredlock "${PROJECT_DESCRIPTION}" nlohmann_json)
else()
    redlock_pkgconfig(redlock -lredlock "${PROJECT_DESCRIPTION}" "${of_static}")
endif()
if(REDLOCK_BOTH_KINDS)
    redlock_pkgconfig(redlock-static -l:libredlock.a "${PROJECT_DESCRIPTION}" "${of_static}")
endif()
redlock_pkgconfig(redlock-testing -lredlock_testing "Nodes in memory and virtual time, for tests of what uses redlock" "redlock = ${PROJECT_VERSION}")
