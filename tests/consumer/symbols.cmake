# What the shared library shows: everything that is marked, nothing of Boost.Redis, and none of the parts that only tests may see.
#
#   cmake -Dlibrary=FILE -Dnm=PROGRAM -Dsoname=NAME -P symbols.cmake
execute_process(COMMAND "${nm}" --dynamic --defined-only --demangle --format=just-symbols "${library}"
    OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)

foreach(shown IN ITEMS "redlock::client::client(" "redlock::lock::lock(" "redlock::lease::let_go()" "redlock::version()"
        "redlock::config::validate() const" "typeinfo for redlock::config_error" "typeinfo for redlock::observer" "vtable for redlock::json_log"
        "redlock::error_category()" "redlock::parse_settings(")
    string(FIND "${symbols}" "\n${shown}" at)
    if(at EQUAL -1)
        message(SEND_ERROR "not shown: ${shown}")
    endif()
endforeach()

foreach(hidden IN ITEMS "boost::redis::" "typeinfo for boost::redis::" "redlock::detail::engine" "redlock::detail::redis_node" "redlock::detail::basic_core"
        "redlock::detail::acquire_machine" "nlohmann::")
    string(FIND "${symbols}" "\n${hidden}" at)
    if(NOT at EQUAL -1)
        string(SUBSTRING "${symbols}" ${at} 200 symbol)
        message(SEND_ERROR "shown:${symbol}")
    endif()
endforeach()

execute_process(COMMAND readelf --dynamic "${library}" OUTPUT_VARIABLE dynamic COMMAND_ERROR_IS_FATAL ANY)
if(NOT dynamic MATCHES "SONAME[^\n]*\\[${soname}\\]")
    message(SEND_ERROR "the soname is not ${soname}:\n${dynamic}")
endif()
