// with_lock() and with_shared_lock(): bodies that heed a cancellation, ignore it or throw, and callers that cancel the scope.
#ifndef REDLOCK_TESTS_SIMULATION_SCOPE_USER_HPP
#define REDLOCK_TESTS_SIMULATION_SCOPE_USER_HPP

#include "caller.hpp"

namespace redlock::simulation {

class scope_user : public caller {
public:
    using caller::caller;

    asio::awaitable<void> use_lock();
    asio::awaitable<void> use_rw_lock(redlock::rw_lock const& resource, bool reads);
    asio::awaitable<void> use_semaphore(redlock::semaphore const& resource);

private:
    void expect_of_scope(error_code ec, error_code also, char const* operation);
};

}  // namespace redlock::simulation

#endif
