// The real client over simulated nodes and simulated time.
#ifndef REDLOCK_TESTS_SIMULATION_SIMULATED_CLIENT_HPP
#define REDLOCK_TESTS_SIMULATION_SIMULATED_CLIENT_HPP

#include "universe.hpp"

#include "core/admission/quarantine_log.hpp"

#include <redlock/client.hpp>

#include <chrono>
#include <memory>

namespace redlock::simulation {

struct client_settings {
    duration wall{24h};  // what the wall clock of its machine shows when the world begins
    std::chrono::milliseconds max_ttl{30s};
    std::chrono::milliseconds token_retention{1h};
    bool bootstrap{false};
    bool has_sets{false};  // looks at sets of nodes
    std::shared_ptr<detail::quarantine_log> quarantines{};
};

// What the server is called in the record of a set.
std::string member_name(std::size_t server);

// Its values are "p<process>-<number>".
std::shared_ptr<client> make_client(universe& in, process& p, client_settings const& settings = {});

}  // namespace redlock::simulation

#endif
