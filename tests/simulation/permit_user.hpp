// Users of semaphores: one permit or several, in scopes, several at once, with another number than the others, or one slot as a lock.
#ifndef REDLOCK_TESTS_SIMULATION_PERMIT_USER_HPP
#define REDLOCK_TESTS_SIMULATION_PERMIT_USER_HPP

#include "caller.hpp"
#include "scope_user.hpp"

namespace redlock::simulation {

class permit_user : public caller {
public:
    permit_user(stage& on, process& in, std::shared_ptr<redlock::client> const& with, scope_user& scopes)
        : caller{on, in, with}, scopes_{scopes}
    {
    }

    // One of the things that are done with a semaphore.
    asio::awaitable<void> use_semaphore();

private:
    asio::awaitable<void> use_permits_together(redlock::semaphore const& resource);
    duration patience(bool once);
    asio::awaitable<void> use_permits(redlock::semaphore const& resource, std::uint32_t wanted);
    asio::awaitable<void> use_a_slot();
    asio::awaitable<lease> take_permits(redlock::semaphore const& resource, std::uint32_t wanted, bool once, duration gives_up_after);
    redlock::semaphore choose_semaphore();

    scope_user& scopes_;
};

}  // namespace redlock::simulation

#endif
