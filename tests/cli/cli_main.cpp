// The one translation unit that holds Boost.Test itself; the others only include its declarations.
#define BOOST_TEST_MODULE redlock_cli
#include <boost/test/included/unit_test.hpp>
