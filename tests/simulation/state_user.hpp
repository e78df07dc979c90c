// Holders that publish and inherit the state that goes with a lock; and callers that only look at it.
#ifndef REDLOCK_TESTS_SIMULATION_STATE_USER_HPP
#define REDLOCK_TESTS_SIMULATION_STATE_USER_HPP

#include "caller.hpp"

namespace redlock::simulation {

class state_user : public caller {
public:
    using caller::caller;

    asio::awaitable<void> publish_and_inherit();

private:
    asio::awaitable<void> publish(lease& held);
    asio::awaitable<void> inherit(lease& held);
    asio::awaitable<void> peek_and_wait(redlock::lock const& resource);
    void cut_off_but_one();
    void expect_of_state(error_code ec, char const* operation);
};

}  // namespace redlock::simulation

#endif
