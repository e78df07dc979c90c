# The ways in which CMake finds Boost, and what it says where there is none.
#
#   cmake -Droot=FOLDER -Dfolder=FOLDER -Dinclude=FOLDER -Dcompiler=PROGRAM -P boost.cmake    include: holds boost/
file(REMOVE_RECURSE "${folder}")
set(release "${folder}/boost_1_88_0")
file(MAKE_DIRECTORY "${release}")
file(CREATE_LINK "${include}/boost" "${release}/boost" SYMBOLIC)
file(WRITE "${release}/CMakeLists.txt" "message(FATAL_ERROR \"Boost's own build is not wanted\")\n")

function(configure expected)
    string(MD5 name "${ARGN}")
    execute_process(COMMAND "${CMAKE_COMMAND}" -S "${root}" -B "${folder}/${name}" "-DCMAKE_CXX_COMPILER=${compiler}" -DREDLOCK_BUILD_TESTS=OFF
        -DREDLOCK_BUILD_EXAMPLES=OFF -DREDLOCK_BUILD_BENCHMARKS=OFF -DREDLOCK_BUILD_CLI=OFF -DREDLOCK_INSTALL=OFF ${ARGN}
        OUTPUT_VARIABLE output ERROR_VARIABLE output)
    # CMake breaks the lines of an error, and the length of a path decides where.
    string(REGEX REPLACE "[ \n]+" " " output "${output}")
    foreach(text IN LISTS expected)
        string(FIND "${output}" "${text}" at)
        if(at EQUAL -1)
            message(SEND_ERROR "with ${ARGN}: no \"${text}\" in\n${output}")
        endif()
    endforeach()
endfunction()

configure(": ${release}" "-DBOOST_ROOT=${release}")
configure(": ${release}" "-DCMAKE_PREFIX_PATH=${release}")
configure(": ${release}" "-DREDLOCK_BOOST_INCLUDE=${release}")
configure(": ${release}" -DREDLOCK_FETCH_BOOST=ON "-DFETCHCONTENT_SOURCE_DIR_REDLOCK_BOOST_RELEASE=${release}")
configure("has no Boost >= 1.88;-DBOOST_ROOT=;-DREDLOCK_FETCH_BOOST=ON;cmake/setup.sh" "-DREDLOCK_BOOST_INCLUDE=${folder}/none")
