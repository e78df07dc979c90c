vcpkg_from_github(
    OUT_SOURCE_PATH SOURCE_PATH
    REPO TODO/redlock
    REF "v${VERSION}"
    SHA512 0
    HEAD_REF main
)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        command REDLOCK_BUILD_CLI
)

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
        "-DREDLOCK_BOOST_INCLUDE=${CURRENT_INSTALLED_DIR}/include"
        -DREDLOCK_INSTALL_BOOST=OFF
        -DREDLOCK_BUILD_TESTS=OFF
        -DREDLOCK_BUILD_EXAMPLES=OFF
        -DREDLOCK_BUILD_BENCHMARKS=OFF
        -DREDLOCK_WARNINGS_AS_ERRORS=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/redlock)
vcpkg_fixup_pkgconfig()
if("command" IN_LIST FEATURES)
    vcpkg_copy_tools(TOOL_NAMES redlock AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
