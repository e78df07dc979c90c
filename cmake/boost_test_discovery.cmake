# Makes every Boost.Test case a test of CTest, so that their number, times and failures are those of cases, not of programs.
#
#   redlock_add_test(name                 the program; its tests are called name/suite/case, less a trailing _tests
#       SOURCES file...                   beside tests/support/boost_test_main.cpp, which holds Boost.Test
#       [LIBRARIES target...]
#       [LABELS label...]
#       [TIMEOUT seconds]                 of each case; 60 by default, and four times as many with sanitizers
#       [WITHOUT_LIBRARY]                 it starts programs, and is not linked with redlock
#       [ON_EACH_SERVER regex]            the cases that it matches (suite/case) are run with each of redlock_other_servers, too
#       [UNITY]                           several of its files are compiled as one: their names have to be different
#       [PROPERTIES name value...])       any other properties of CTest, for instance RUN_SERIAL ON
#
# The cases are listed after each build of the program by running it. A program that cannot be run, or has no case, fails the
# build; one that was not built is a test that fails. Suites may be nested, cases may be data-driven (each row is a test).
# One that finds that it cannot run here says so (tests/support/skipped.hpp), and is skipped for CTest.
#
#   redlock_add_skipped_test(name why [label...])    stands for tests that are left out, so that nobody takes them for passed
#
# This file is included by CMakeLists.txt; after a build it runs itself as a script to list the cases.
if(NOT CMAKE_SCRIPT_MODE_FILE)
    set(REDLOCK_DISCOVERY_SCRIPT "${CMAKE_CURRENT_LIST_FILE}")

    function(redlock_add_test name)
        cmake_parse_arguments(PARSE_ARGV 1 arg "UNITY;WITHOUT_LIBRARY" "TIMEOUT;ON_EACH_SERVER" "SOURCES;LIBRARIES;LABELS;PROPERTIES")
        if(arg_UNPARSED_ARGUMENTS OR NOT arg_SOURCES)
            message(FATAL_ERROR "redlock_add_test(${name}): unknown arguments (${arg_UNPARSED_ARGUMENTS}), or no SOURCES")
        endif()
        if(NOT arg_TIMEOUT)
            set(arg_TIMEOUT 60)
        endif()
        if(REDLOCK_SANITIZE)
            math(EXPR arg_TIMEOUT "4 * ${arg_TIMEOUT}")
        endif()

        add_executable(${name} ${arg_SOURCES})
        foreach(label IN LISTS arg_LABELS)
            set_property(GLOBAL APPEND PROPERTY redlock_programs_labelled_${label} ${name})
        endforeach()
        target_link_libraries(${name} PRIVATE redlock_boost_test_main ${arg_LIBRARIES})
        if(NOT arg_WITHOUT_LIBRARY)
            redlock_take_headers_of(redlock_test_headers ${name})
        endif()
        if(arg_UNITY)
            redlock_few_pieces(${name})
        else()
            set_target_properties(${name} PROPERTIES UNITY_BUILD OFF)
        endif()

        # Semicolons would end arguments on their way through the build system.
        string(REPLACE ";" "|" labels "${arg_LABELS}")
        string(REPLACE ";" "|" properties "${arg_PROPERTIES}")
        get_property(servers GLOBAL PROPERTY redlock_other_servers)
        string(REPLACE ";" "|" servers "${servers}")
        set(tests_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_tests.cmake")
        add_custom_command(TARGET ${name} POST_BUILD VERBATIM
            BYPRODUCTS "${tests_file}"
            COMMENT "Listing the cases of ${name}"
            COMMAND "${CMAKE_COMMAND}"
                "-Dprogram=$<TARGET_FILE:${name}>" "-Dname=${name}" "-Dtests_file=${tests_file}"
                "-Dlabels=${labels}" "-Dtimeout=${arg_TIMEOUT}" "-Dproperties=${properties}"
                "-Dservers=${servers}" "-Don_each_server=${arg_ON_EACH_SERVER}"
                "-Dfolder=${CMAKE_CURRENT_BINARY_DIR}" -P "${REDLOCK_DISCOVERY_SCRIPT}")

        set(include_file "${CMAKE_CURRENT_BINARY_DIR}/${name}_include.cmake")
        file(WRITE "${include_file}"
            "if(EXISTS [==[${tests_file}]==])\n"
            "    include([==[${tests_file}]==])\n"
            "else()\n"
            "    add_test(${name}_was_not_built ${name}_was_not_built)\n"
            "    set_tests_properties(${name}_was_not_built PROPERTIES LABELS [==[${arg_LABELS}]==])\n"
            "endif()\n")
        set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${include_file}")
    endfunction()

    function(redlock_add_skipped_test name why)
        add_test(NAME ${name} COMMAND "${CMAKE_COMMAND}" -E echo "this test is skipped: ${why}")
        set_tests_properties(${name} PROPERTIES SKIP_REGULAR_EXPRESSION "this test is skipped: " LABELS "${ARGN}")
    endfunction()

    return()
endif()

# From here on: the script that runs after a build.

function(fail why)
    file(REMOVE "${program}" "${tests_file}")  # so that the next build tries again, and CTest reports what is missing
    message(FATAL_ERROR "${name}: ${why}")
endfunction()

# HRF is an outline, four spaces a level; '*' marks what is enabled, and a description may follow after ": ".
execute_process(COMMAND "${program}" --list_content=HRF --color_output=no
    RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE outline)
if(NOT result EQUAL 0)
    fail("listing the cases failed (${result}):\n${output}${outline}")
endif()

# Characters that mean something in CMake lists.
string(REPLACE ";" "\\;" outline "${outline}")
string(REPLACE "[" "\\[" outline "${outline}")
string(REPLACE "]" "\\]" outline "${outline}")
string(REGEX REPLACE "\r?\n" ";" lines "${outline}")

set(path "")
set(pending "")       # the line before: a case, unless the next one is deeper
set(pending_depth -1)
set(pending_enabled TRUE)
set(count 0)
set(text "")

string(REGEX REPLACE "_tests$" "" prefix "${name}")
string(REPLACE "|" ";" labels "${labels}")
string(REPLACE "|" ";" properties "${properties}")
string(REPLACE "|" ";" servers "${servers}")
set(all_properties "TIMEOUT [==[${timeout}]==] WORKING_DIRECTORY [==[${folder}]==] LABELS [==[${labels}]==] SKIP_REGULAR_EXPRESSION [==[this test is skipped: ]==]")
foreach(property IN LISTS properties)
    string(APPEND all_properties " [==[${property}]==]")
endforeach()

function(add_pending_case)
    set(disabled "")
    if(NOT pending_enabled)
        set(disabled " DISABLED TRUE")
    endif()
    string(APPEND text
        "add_test([==[${prefix}/${pending}]==] [==[${program}]==] [==[--run_test=${pending}]==] --color_output=no)\n"
        "set_tests_properties([==[${prefix}/${pending}]==] PROPERTIES ${all_properties}${disabled})\n")
    math(EXPR count "${count} + 1")
    if(on_each_server AND "${pending}" MATCHES "${on_each_server}")
        foreach(server IN LISTS servers)  # name=program
            string(REGEX MATCH "^([^=]*)=(.*)$" parts "${server}")
            string(APPEND text
                "add_test([==[${prefix}@${CMAKE_MATCH_1}/${pending}]==] [==[${program}]==] [==[--run_test=${pending}]==] --color_output=no)\n"
                "set_tests_properties([==[${prefix}@${CMAKE_MATCH_1}/${pending}]==] PROPERTIES ${all_properties} LABELS servers"
                " ENVIRONMENT [==[REDLOCK_TEST_SERVER=${CMAKE_MATCH_2}]==]${disabled})\n")
        endforeach()
    endif()
    set(text "${text}" PARENT_SCOPE)
    set(count "${count}" PARENT_SCOPE)
endfunction()

foreach(line IN LISTS lines)
    if(NOT line MATCHES "^( *)([^ *:][^*:]*)(\\*?)(:.*)?$")
        continue()
    endif()
    string(STRIP "${CMAKE_MATCH_2}" unit)
    set(star "${CMAKE_MATCH_3}")
    string(LENGTH "${CMAKE_MATCH_1}" depth)
    math(EXPR depth "${depth} / 4")
    if(pending AND NOT depth GREATER pending_depth)
        add_pending_case()
    endif()
    list(SUBLIST path 0 ${depth} path)
    list(APPEND path "${unit}")
    list(JOIN path "/" pending)
    set(pending_depth ${depth})
    set(pending_enabled TRUE)
    if(NOT star)
        set(pending_enabled FALSE)
    endif()
endforeach()
if(pending)
    add_pending_case()
endif()
if(count EQUAL 0)
    fail("no test case was found")
endif()
file(WRITE "${tests_file}" "${text}")
