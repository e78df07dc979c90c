# The version is written down in redlock/version.hpp; what cannot read it there says the same, and so does what they need.
#
#   cmake -Droot=FOLDER -Dversion=VERSION -Dpython=PROGRAM -P versions.cmake
file(READ "${root}/vcpkg.json" vcpkg)
string(JSON theirs GET "${vcpkg}" version)
if(NOT theirs STREQUAL version)
    message(SEND_ERROR "vcpkg.json is of ${theirs}, not ${version}")
endif()
string(JSON name GET "${vcpkg}" name)
if(NOT name STREQUAL "redlock")
    message(SEND_ERROR "vcpkg.json names the library ${name}")
endif()

# Not compiled into the source tree.
file(READ "${root}/conanfile.py" conan)
execute_process(COMMAND "${python}" -c "import ast, sys; ast.parse(open(sys.argv[1]).read())" "${root}/conanfile.py" COMMAND_ERROR_IS_FATAL ANY)
if(NOT conan MATCHES "\n    version = \"([^\"]*)\"\n" OR NOT CMAKE_MATCH_1 STREQUAL version)
    message(SEND_ERROR "conanfile.py is not of ${version}")
endif()

# Each CMake variable that a recipe sets is one that we have.
file(READ "${root}/CMakeLists.txt" ours)
file(READ "${root}/cmake/dependencies.cmake" dependencies)
file(READ "${root}/cmake/install.cmake" install)
string(REGEX MATCHALL "REDLOCK_[A-Z_]+" variables "${conan}")
foreach(variable IN LISTS variables)
    if(NOT "${ours}${dependencies}${install}" MATCHES "(option|set)\\(${variable} ")
        message(SEND_ERROR "conanfile.py sets ${variable}, which nobody reads")
    endif()
endforeach()

file(READ "${root}/tests/consumer/in_tree/CMakeLists.txt" in_tree)
if(NOT in_tree MATCHES "GIT_TAG v([0-9.]+)\\)" OR NOT CMAKE_MATCH_1 STREQUAL version)
    message(SEND_ERROR "the FetchContent example is not of ${version}")
endif()

file(READ "${root}/CHANGELOG.md" changes)
if(NOT changes MATCHES "\n## ([0-9.]+)" OR NOT CMAKE_MATCH_1 STREQUAL version)
    message(SEND_ERROR "the first entry of CHANGELOG.md is not ${version}")
endif()
