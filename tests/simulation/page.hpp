// The picture of one schedule: a page of HTML that needs nothing but a browser.
#ifndef REDLOCK_TESTS_SIMULATION_PAGE_HPP
#define REDLOCK_TESTS_SIMULATION_PAGE_HPP

#include "recorder.hpp"
#include "schedule.hpp"

#include <cstdint>
#include <string>

namespace redlock::simulation {

std::string page(std::uint64_t seed, result const& r, recorder const& records);

}  // namespace redlock::simulation

#endif
