# Whoever compiles installed headers with another release of Boost is told so, and by which.
#
#   cmake -Dcompiler=PROGRAM -Dprefix=FOLDER -Dfolder=FOLDER -Dversion=NUMBER -Drelease=TEXT -P other_boost.cmake
math(EXPR other "${version} + 100")
file(REMOVE_RECURSE "${folder}")
file(WRITE "${folder}/boost/version.hpp" "#define BOOST_VERSION ${other}\n")
file(WRITE "${folder}/main.cpp" "#include <redlock/version.hpp>\nint main() {}\n")
set(compile "${compiler}" -std=c++20 -fsyntax-only "-I${prefix}/include" main.cpp)

execute_process(COMMAND ${compile} -I. WORKING_DIRECTORY "${folder}" RESULT_VARIABLE result ERROR_VARIABLE said)
if(result EQUAL 0 OR NOT said MATCHES "built with Boost ${release}")
    message(FATAL_ERROR "another Boost was taken: ${result}\n${said}")
endif()

file(WRITE "${folder}/boost/version.hpp" "#define BOOST_VERSION ${version}\n")
execute_process(COMMAND ${compile} -I. WORKING_DIRECTORY "${folder}" COMMAND_ERROR_IS_FATAL ANY)
