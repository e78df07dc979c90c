// The actions of a simulated caller: draws one way to use the library after the other.
#ifndef REDLOCK_TESTS_SIMULATION_USER_HPP
#define REDLOCK_TESTS_SIMULATION_USER_HPP

#include "holding_user.hpp"
#include "owner_user.hpp"
#include "permit_user.hpp"
#include "rw_user.hpp"
#include "scope_user.hpp"
#include "stage.hpp"
#include "state_user.hpp"
#include "ticket_user.hpp"
#include "waiting_user.hpp"

#include <redlock/client.hpp>

#include <boost/asio/awaitable.hpp>

#include <cstddef>
#include <functional>
#include <memory>

namespace redlock::simulation {

class user {
public:
    user(stage& on, process& in, std::shared_ptr<redlock::client> with);
    user(user const&) = delete;
    user& operator=(user const&) = delete;

    // Works through some actions, and leaves.
    void go(std::size_t actions);

    // Asks once for a lock, as a short-lived process does; holds it for a while if it gets it, and leaves.
    void ask_once(std::function<void()> then);

    bool is_at_work() const noexcept { return at_work_; }
    void client_gone() { client_.reset(); }

private:
    asio::awaitable<void> work(std::size_t actions);
    asio::awaitable<void> act();
    void spawn(asio::awaitable<void> what, std::function<void()> then);

    stage& stage_;
    process& process_;
    std::shared_ptr<redlock::client> client_;
    bool at_work_{false};

    holding_user holds_{stage_, process_, client_};
    waiting_user waits_{stage_, process_, client_};
    owner_user owners_{stage_, process_, client_};
    scope_user scopes_{stage_, process_, client_};
    rw_user rw_locks_{stage_, process_, client_, scopes_};
    permit_user permits_{stage_, process_, client_, scopes_};
    state_user states_{stage_, process_, client_};
    ticket_user tickets_{stage_, process_, client_};
};

}  // namespace redlock::simulation

#endif
