// Callers whose lock somebody else has: they wait, give up, or come at the moment when it is free.
#ifndef REDLOCK_TESTS_SIMULATION_WAITING_USER_HPP
#define REDLOCK_TESTS_SIMULATION_WAITING_USER_HPP

#include "caller.hpp"

namespace redlock::simulation {

class waiting_user : public caller {
public:
    using caller::caller;

    asio::awaitable<void> give_up_waiting();

    // Tries to acquire in the moment in which a majority of the servers forgets the key.
    asio::awaitable<void> come_when_free();

    // Several at once, through one client.
    asio::awaitable<void> wait_in_line();

private:
    asio::awaitable<void> wait_for_turn(redlock::lock const& resource, std::size_t number);
};

}  // namespace redlock::simulation

#endif
