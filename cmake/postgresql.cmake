# For the example and the tests of fenced writes to PostgreSQL; the library itself has no use for it.
find_package(PostgreSQL QUIET)
if(NOT TARGET PostgreSQL::PostgreSQL)
    message(WARNING "libpq was not found: fenced_write_postgres and its tests are left out (on Debian: apt-get install libpq-dev)")
endif()

# Debian keeps the server's programs out of PATH; the newest release first.
file(GLOB folders /usr/lib/postgresql/*/bin)
list(SORT folders COMPARE NATURAL ORDER DESCENDING)
find_program(REDLOCK_INITDB initdb HINTS ${folders})
if(REDLOCK_INITDB)
    cmake_path(GET REDLOCK_INITDB PARENT_PATH REDLOCK_POSTGRES_PROGRAMS)
else()
    message(WARNING "initdb was not found: the PostgreSQL tests will fail (on Debian: apt-get install postgresql)")
endif()
