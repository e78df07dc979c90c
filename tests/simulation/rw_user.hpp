// Readers and writers of read-write locks, also in scopes; writers that go on as readers.
#ifndef REDLOCK_TESTS_SIMULATION_RW_USER_HPP
#define REDLOCK_TESTS_SIMULATION_RW_USER_HPP

#include "caller.hpp"
#include "scope_user.hpp"

namespace redlock::simulation {

class rw_user : public caller {
public:
    rw_user(stage& on, process& in, std::shared_ptr<redlock::client> const& with, scope_user& scopes)
        : caller{on, in, with}, scopes_{scopes}
    {
    }

    // One of the things that are done with a read-write lock.
    asio::awaitable<void> use_rw_lock();

private:
    asio::awaitable<void> read_together(redlock::rw_lock const& resource);
    asio::awaitable<void> use_shared(redlock::rw_lock const& resource, bool reads);
    asio::awaitable<void> come_when_free(redlock::rw_lock const& resource);
    asio::awaitable<void> become_reader(lease& held, watched_lease& watched);
    asio::awaitable<lease> take_shared(redlock::rw_lock const& resource, bool reads, bool once, duration gives_up_after = {});
    asio::awaitable<void> hold_shared(lease held, lock_options const& options);
    redlock::rw_lock choose_rw_lock();

    scope_user& scopes_;
};

}  // namespace redlock::simulation

#endif
