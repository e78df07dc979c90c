# A step that fails (here: without servers in PATH) is named, and the others are in the summary all the same.
#
#   cmake -Dprogram=speed -Dfolder=FOLDER -P failed_step.cmake
set(summary "${folder}/failed_step.json")
file(REMOVE "${summary}")
execute_process(COMMAND "${CMAKE_COMMAND}" -E env PATH=/nonexistent "${program}" all --quick --rounds 1 --seconds 0.1 --only first group --summary "${summary}"
    RESULT_VARIABLE result OUTPUT_VARIABLE text ERROR_VARIABLE text)
if(result EQUAL 0)
    message(FATAL_ERROR "a step failed, and the program ended with 0:\n${text}")
endif()
file(READ "${summary}" text)
foreach(path IN ITEMS round_parallel_group_us failed\;first)
    string(JSON ignored GET "${text}" ${path})
endforeach()
