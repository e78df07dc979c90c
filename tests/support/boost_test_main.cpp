// The one translation unit that holds Boost.Test itself; the tests only include its declarations. It takes as long as five of them.
#define BOOST_TEST_MODULE redlock
#include <boost/test/included/unit_test.hpp>
