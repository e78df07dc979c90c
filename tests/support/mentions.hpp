// For tests of sentences: that one says something.
#ifndef REDLOCK_TESTS_SUPPORT_MENTIONS_HPP
#define REDLOCK_TESTS_SUPPORT_MENTIONS_HPP

#include <string_view>

namespace redlock::testing {

inline bool mentions(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace redlock::testing

#endif
