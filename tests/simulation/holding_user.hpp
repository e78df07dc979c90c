// Holders of one lock: for a while, until the lease is lost, with extensions by hand, or with callbacks.
#ifndef REDLOCK_TESTS_SIMULATION_HOLDING_USER_HPP
#define REDLOCK_TESTS_SIMULATION_HOLDING_USER_HPP

#include "caller.hpp"

namespace redlock::simulation {

class holding_user : public caller {
public:
    using caller::caller;

    asio::awaitable<void> hold_for_a_while();
    asio::awaitable<void> with_callbacks();
    asio::awaitable<void> extend_by_hand();
    asio::awaitable<void> wait_for_loss();

    // Lets a lease end that it believes to the last moment.
    asio::awaitable<void> use_to_the_last_moment();

    // Asks once for a lock, as a short-lived process does, and holds it for a while if it gets it.
    asio::awaitable<void> visit();
};

}  // namespace redlock::simulation

#endif
