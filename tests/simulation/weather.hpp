// How the network behaves in a schedule.
#ifndef REDLOCK_TESTS_SIMULATION_WEATHER_HPP
#define REDLOCK_TESTS_SIMULATION_WEATHER_HPP

#include "clocks.hpp"

#include <cstddef>

namespace redlock::simulation {

struct network_weather {
    duration min_delay{50us};
    duration max_delay{500us};
    std::size_t slow_percent{0};      // of messages that take up to max_slow
    duration max_slow{};
    std::size_t apart_one_in{8};      // messages that are taken apart on their way; 0: none
    std::size_t duplicate_percent{0}; // of messages that arrive once more, later
    duration max_ghost_delay{};       // how much later than their connection's end messages may still arrive
    duration max_reconnect{50ms};
    std::size_t evicted_percent{0};   // of requests with tokens that find the key gone
    duration max_notices_after{1s};   // until a client gives up a connection that is silent
    std::size_t push_lost_percent{0}; // of pushes, without the loss of their connection
    duration max_expiry_noticed{100ms};  // how long a server may take to say that a key has expired
    duration replication_patience{100ms};  // how long a vote waits for replicas
};

}  // namespace redlock::simulation

#endif
