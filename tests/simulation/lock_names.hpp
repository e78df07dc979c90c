// The names of a lock of several names, as one text: "a, b", as lease::name() says it. No name has a comma in it in this world.
#ifndef REDLOCK_TESTS_SIMULATION_LOCK_NAMES_HPP
#define REDLOCK_TESTS_SIMULATION_LOCK_NAMES_HPP

#include "protocol/command.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace redlock::simulation {

std::vector<std::string> split_names(std::string_view text);

// The names of the lock that a command is about.
std::string names_text_of(detail::command const& c);

bool share_a_name(std::vector<std::string> const& a, std::vector<std::string> const& b);

}  // namespace redlock::simulation

#endif
