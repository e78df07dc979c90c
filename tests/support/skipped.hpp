// A test that cannot run here, for instance since a program is not installed, says so and returns: CTest calls it skipped, and not passed.
#ifndef REDLOCK_TESTS_SUPPORT_SKIPPED_HPP
#define REDLOCK_TESTS_SUPPORT_SKIPPED_HPP

#include <iostream>
#include <string_view>

namespace redlock::testing {

// cmake/boost_test_discovery.cmake looks for these words.
inline void skipped(std::string_view why) { std::cout << "this test is skipped: " << why << std::endl; }

}  // namespace redlock::testing

#endif
