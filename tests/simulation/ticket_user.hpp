// Holders that detach their lease, and processes that adopt the ticket.
#ifndef REDLOCK_TESTS_SIMULATION_TICKET_USER_HPP
#define REDLOCK_TESTS_SIMULATION_TICKET_USER_HPP

#include "caller.hpp"

namespace redlock::simulation {

class ticket_user : public caller {
public:
    using caller::caller;

    asio::awaitable<void> detach_lease();
    asio::awaitable<void> adopt_ticket();

private:
    bool detach(lease& held, watched_lease& watched, lock_options const& options);
};

}  // namespace redlock::simulation

#endif
