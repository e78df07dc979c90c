// What the tests of error texts share.
#ifndef REDLOCK_TESTS_UNIT_MESSAGE_SUPPORT_HPP
#define REDLOCK_TESTS_UNIT_MESSAGE_SUPPORT_HPP

#include <string>
#include <string_view>

namespace redlock {

// The text of the `Error` that `action` throws; empty when it throws nothing.
template <class Error, class Action>
std::string message_of(Action action)
{
    try {
        action();
    } catch (Error const& error) {
        return error.what();
    }
    return {};
}

inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace redlock

// Shows both texts when it fails.
#define REDLOCK_TEST_CONTAINS(text, part) \
    BOOST_TEST(redlock::contains(text, part), '"' << (text) << "\" does not contain \"" << (part) << '"')

#endif
