# Debian packages, by `cpack -G DEB` (make package): libredlock0.1, libredlock-dev, redlock, and where Debian's own Boost is too old,
# libredlock-boost-dev: the one that redlock was built with, in a folder where it is in nobody's way.
set(library_package libredlock${REDLOCK_SOVERSION})
set(packages_library ${library_package})
set(packages_development libredlock-dev)
set(packages_boost libredlock-boost-dev)
set(packages_command redlock)

set(CPACK_COMPONENTS_ALL library development)
if(REDLOCK_BUILD_CLI)
    list(APPEND CPACK_COMPONENTS_ALL command)
endif()
set(boost_package "libboost${boost_major}.${boost_minor}-dev")
if(REDLOCK_INSTALL_BOOST)
    list(APPEND CPACK_COMPONENTS_ALL boost)
    set(boost_package "libredlock-boost-dev (= ${PROJECT_VERSION})")
endif()

redlock_compressed("${PROJECT_SOURCE_DIR}/CHANGELOG.md" changelog)
foreach(component IN LISTS CPACK_COMPONENTS_ALL)
    string(TOUPPER ${component} COMPONENT)
    set(CPACK_DEBIAN_${COMPONENT}_PACKAGE_NAME ${packages_${component}})
    install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${packages_${component}}" RENAME copyright COMPONENT ${component})
    install(FILES "${compressed}" DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${packages_${component}}" COMPONENT ${component})
endforeach()

set(CPACK_PACKAGE_NAME redlock)
set(CPACK_PACKAGE_VENDOR "redlock")
set(CPACK_PACKAGE_CONTACT "redlock maintainers <maintainers@redlock.invalid>")
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_THREADS 0)

set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The shared library.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")

set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Headers, the static library, the library for tests of your own code, and what CMake and pkg-config need.
It needs the headers of Boost ${REDLOCK_BOOST_RELEASE}, and of no other release.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "${library_package} (= ${PROJECT_VERSION}), ${boost_package}, libssl-dev (>= 3.0), nlohmann-json3-dev (>= 3.11)")

set(CPACK_COMPONENT_BOOST_DESCRIPTION "The headers of Boost ${REDLOCK_BOOST_RELEASE} that libredlock-dev needs, in a folder of their own
beside those of the system.")
set(CPACK_DEBIAN_BOOST_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_BOOST_PACKAGE_ARCHITECTURE all)

set(CPACK_COMPONENT_COMMAND_DESCRIPTION "The redlock command. What flock(1) is for one machine: it runs a command on one
of several hosts, and looks at locks and at the servers that keep them.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)

include(CPack)
