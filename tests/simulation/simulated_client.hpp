// The real client over simulated nodes and simulated time.
#ifndef REDLOCK_TESTS_SIMULATION_SIMULATED_CLIENT_HPP
#define REDLOCK_TESTS_SIMULATION_SIMULATED_CLIENT_HPP

#include "universe.hpp"

#include <redlock/client.hpp>

#include <memory>

namespace redlock::simulation {

// Its values are "p<process>-<number>".
std::shared_ptr<client> make_client(universe& in, process& p);

}  // namespace redlock::simulation

#endif
