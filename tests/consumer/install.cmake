# A fresh prefix, as `cmake --install` makes it, that then moves to where it is used: nothing in it names the place that it was made for.
#
#   cmake -Dprefix=FOLDER -Dbuild=FOLDER -P install.cmake
file(REMOVE_RECURSE "${prefix}" "${prefix}.first")
execute_process(COMMAND "${CMAKE_COMMAND}" --install "${build}" --prefix "${prefix}.first" OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
file(RENAME "${prefix}.first" "${prefix}")

file(GLOB_RECURSE texts "${prefix}/*redlock*.cmake" "${prefix}/*.pc" "${prefix}/include/redlock/*")
if(NOT texts)
    message(FATAL_ERROR "nothing was installed")
endif()
foreach(text IN LISTS texts)
    file(READ "${text}" content)
    string(FIND "${content}" "${build}" at)
    if(NOT at EQUAL -1)
        message(SEND_ERROR "${text} names the build tree")
    endif()
endforeach()
