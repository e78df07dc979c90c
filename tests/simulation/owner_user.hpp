// Owners that acquire what they have: nested leases, one after the other or several at once.
#ifndef REDLOCK_TESTS_SIMULATION_OWNER_USER_HPP
#define REDLOCK_TESTS_SIMULATION_OWNER_USER_HPP

#include "caller.hpp"

namespace redlock::simulation {

class owner_user : public caller {
public:
    using caller::caller;

    asio::awaitable<void> nest();
    asio::awaitable<void> ask_as_one_owner();

private:
    asio::awaitable<void> hold_as_owner(redlock::lock const& resource, bool once);
};

}  // namespace redlock::simulation

#endif
