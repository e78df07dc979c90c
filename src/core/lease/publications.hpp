// lease::publish() and lease::inherited(): the state that goes with a lock. Begins the rounds of state_rounds.hpp, and keeps those whose callers wait.
#ifndef REDLOCK_CORE_LEASE_PUBLICATIONS_HPP
#define REDLOCK_CORE_LEASE_PUBLICATIONS_HPP

#include "core/lease/lease_record.hpp"
#include "core/lease/lease_registry.hpp"
#include "core/operation.hpp"

#include <redlock/detail/core.hpp>

#include <memory>
#include <string>

namespace redlock::detail {

class inherit_round;
class publish_round;
class state_round;

class publications : public ongoing<state_round> {
public:
    publications(environment& env, lease_registry& leases) : env_{env}, leases_{leases} {}

    // Both return what can be abandoned; null if it was refused at once.
    std::shared_ptr<publish_round> publish(lease_handle const& by, std::string const& bytes, plain_handler&& handler, time_point now);
    std::shared_ptr<inherit_round> inherit(lease_handle const& by, state_handler&& handler, time_point now);

    // Gives nodes once more what the lease has published.
    void publish_again(lease_record& what, time_point now);

    environment& env() const noexcept { return env_; }
    lease_registry& leases() const noexcept { return leases_; }

private:
    friend class publish_round;
    friend class inherit_round;

    errc objection_to(lease_handle const& by, time_point now);

    environment& env_;
    lease_registry& leases_;
};

}  // namespace redlock::detail

#endif
