# Configures a project that uses the library, in a folder of its own, builds it, and runs what it made. Without runs it is configured only.
#
#   cmake -Dsource=FOLDER -Dfolder=FOLDER -Doptions="-D.. -D.." -Druns="PROGRAM [ARGUMENT..]|REGEX|.." [-Dredlock=FOLDER]
#         -P consume.cmake
#
# redlock: the library's sources, which the project has in its own folder.
set(build "${folder}/build")
separate_arguments(options UNIX_COMMAND "${options}")

function(run)
    execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result EQUAL 0)
        list(JOIN ARGN " " command)
        message(FATAL_ERROR "${command}: ${result}\n${output}")
    endif()
endfunction()

run("${CMAKE_COMMAND}" -E rm -rf "${folder}")
file(COPY "${source}/" "${CMAKE_CURRENT_LIST_DIR}/first_lock.cpp" DESTINATION "${folder}")
if(redlock)
    file(CREATE_LINK "${redlock}" "${folder}/redlock" SYMBOLIC)
endif()
run("${CMAKE_COMMAND}" -G "${generator}" -S "${folder}" -B "${build}" ${options})
if(NOT runs)
    return()
endif()
run("${CMAKE_COMMAND}" --build "${build}" --parallel 2)

# In pairs: a command, and what it must say. One that ends with 1 has said why, and that is compared as well.
string(REPLACE "|" ";" runs "${runs}")
while(runs)
    list(POP_FRONT runs command expected)
    separate_arguments(command)
    list(POP_FRONT command program)
    execute_process(COMMAND "${build}/${program}" ${command} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
    if(NOT result MATCHES "^[01]$" OR NOT output MATCHES "${expected}")
        message(FATAL_ERROR "${program} ${command}: ${result}\n${output}\nexpected: ${expected}")
    endif()
    message(STATUS "${program}: ${output}")
endwhile()
